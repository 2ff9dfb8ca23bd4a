"""What outlives the agent: JSON files that are replaced whole, so that a kill leaves the old one or the new one."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any


def read(path: Path) -> dict[str, Any]:
    """Read a state; an unreadable one counts as none."""
    try:
        told = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return told if isinstance(told, dict) else {}


def write(path: Path, state: dict[str, Any]) -> None:
    """Replace a state."""
    fresh = path.with_suffix(".new")
    with fresh.open("w") as file:
        os.chmod(fresh, 0o600)
        json.dump(state, file)
    fresh.replace(path)
