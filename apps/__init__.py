"""The three caches and the ground they stand on."""
