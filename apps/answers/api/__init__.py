"""REST doors of the answers cache."""
