"""What saved work is worth to a workspace: its own prices over defaults."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True, slots=True)
class Prices:
    """Worth of what a cache saves, in a currency; `tokens` and `seconds` are those of one upstream call."""

    currency: str = "USD"
    call: float = 0.002
    tokens: float = 400.0
    seconds: float = 1.5
    cpu_hour: float = 0.05
    gigabyte: float = 0.02

    @classmethod
    def from_mapping(cls, values: Any) -> Prices:
        """Read what a workspace has set; what is missing or makes no sense is the default."""
        given = values if isinstance(values, Mapping) else {}
        kept = {item.name: given[item.name] for item in fields(cls) if _sensible(item.name, given.get(item.name))}
        return cls(**kept)


def _sensible(name: str, value: Any) -> bool:
    if name == "currency":
        return isinstance(value, str) and 0 < len(value) <= 8
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0
