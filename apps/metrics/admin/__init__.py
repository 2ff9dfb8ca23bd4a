"""The console's first page."""
