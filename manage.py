#!/usr/bin/env python
"""Django's command line; puts platform/ on the path."""

import os
import sys
from pathlib import Path


def main() -> None:
    """Run a management command."""
    sys.path.insert(0, str(Path(__file__).resolve().parent / "platform"))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
