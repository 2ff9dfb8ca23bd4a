"""What the agent is told when it starts, from the environment; it fails loudly on what cannot be meant."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

UNITS = {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


class SettingsProblem(Exception):
    """A setting that cannot be read; the message names it."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Addresses, sizes in bytes, rates in bit/s, times in s; `folder` is nginx's, and the agent's state lies in it."""

    folder: Path
    edge_url: str
    edge_token: str
    origin: str
    platform_url: str
    platform_key: str
    name: str = field(default_factory=socket.gethostname)
    public_url: str = ""  # what viewers use, where it is not `edge_url`
    prefixes: tuple[str, ...] = ("/media/",)
    capacity: int = 10 * 2**30
    pin_share: float = 0.05
    line_bps: float = 100e6
    flows: int = 4
    most_requests: int = 500  # of one plan
    most_evicted: float = 0.2  # share of the capacity that one plan may take away
    tick_s: float = 1.0
    report_s: float = 5.0
    plan_s: float = 2.0
    window_s: float = 300.0  # of one comparison with LRU

    @property
    def pins(self) -> int:
        """Give the bytes that pins may take."""
        return int(self.capacity * self.pin_share)


def from_environment(environment: Mapping[str, str] = os.environ) -> Settings:
    """Read the settings; raises SettingsProblem."""
    read = _Reader(environment)
    platform = read.text("TOUCHSTONE_URL").rstrip("/")
    return Settings(
        folder=Path(read.text("EDGE_FOLDER")).resolve(),
        edge_url=read.text("EDGE_URL").rstrip("/"),
        edge_token=read.text("EDGE_TOKEN"),
        origin=read.text("EDGE_ORIGIN", platform).rstrip("/"),
        platform_url=platform,
        platform_key=read.text("TOUCHSTONE_KEY"),
        name=read.text("EDGE_NAME", socket.gethostname()),
        public_url=read.text("EDGE_PUBLIC_URL", read.text("EDGE_URL")).rstrip("/"),
        prefixes=tuple(read.text("EDGE_PREFIXES", "/media/").split(",")),
        capacity=read.bytes("EDGE_CAPACITY", "10g"),
        pin_share=read.number("EDGE_PIN_SHARE", 0.05, 0.5),
        line_bps=read.number("EDGE_LINE_BPS", 100e6, 1e13),
        flows=int(read.number("EDGE_FLOWS", 4, 64)),
        window_s=read.number("EDGE_WINDOW_S", 300, 86400),
        tick_s=read.number("EDGE_TICK_S", 1, 60),
        report_s=read.number("EDGE_REPORT_S", 5, 3600),
        plan_s=read.number("EDGE_PLAN_S", 2, 3600),
    )


def size(text: str) -> int:
    """Read a size such as `500m` or `10g`; raises ValueError."""
    number, unit = (text[:-1], UNITS[text[-1].lower()]) if text[-1:].lower() in UNITS else (text, 1)
    return int(float(number) * unit)


class _Reader:
    def __init__(self, environment: Mapping[str, str]) -> None:
        self.environment = environment

    def text(self, name: str, default: str | None = None) -> str:
        if path := self.environment.get(f"{name}_FILE"):
            return Path(path).read_text().strip()
        value = self.environment.get(name) or default
        if value is None:
            raise SettingsProblem(f"{name} is not set")
        return value

    def number(self, name: str, default: float, most: float) -> float:
        try:
            value = float(self.text(name, str(default)))
        except ValueError:
            raise SettingsProblem(f"{name} must be a number") from None
        if not 0 <= value <= most:
            raise SettingsProblem(f"{name} must lie between 0 and {most:g}")
        return value

    def bytes(self, name: str, default: str) -> int:
        try:
            value = size(self.text(name, default))
        except ValueError:
            raise SettingsProblem(f"{name} must be a size such as 500m or 10g") from None
        if value < 2**20:
            raise SettingsProblem(f"{name} must be 1m at least")
        return value
