"""One cell of a CSV file for spreadsheets, which must not run it.

A cell that a spreadsheet would take for a formula (it begins with = + - @, a tab or a line break, also in full width)
gets an apostrophe in front, and so does one that already has apostrophes in front of such a letter; reading takes one
apostrophe off again.
"""

from __future__ import annotations

import re

GUARDED = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")
ESCAPED = re.compile(r"'+[=+\-@\t\r\n＝＋－＠]")


def guard(cell: str) -> str:
    """Disarm a cell for spreadsheets."""
    return f"'{cell}" if GUARDED.match(cell) else cell


def unguard(cell: str) -> str:
    """Undo `guard`."""
    return cell[1:] if ESCAPED.match(cell) else cell
