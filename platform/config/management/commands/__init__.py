"""One command a module: `manage.py <name>`."""
