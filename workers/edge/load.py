"""How busy the edge is: its line, its processor and what its line loses."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

PROC = Path("/proc")


class Load:
    """Measure between calls; without Linux's /proc only the line is known."""

    def __init__(self, line_bps: float, proc: Path = PROC) -> None:
        self.line_bps, self.proc = line_bps, proc
        self._at, self._sent = time.monotonic(), 0
        self._busy, self._segments = self._processor(), self._tcp()

    def sent(self, size: int) -> None:
        """Count bytes that went to viewers."""
        self._sent += size

    def measure(self) -> tuple[float, float]:
        """Give load (the busier of line and processor) and retransmitted share since the last call, both 0 to 1."""
        now, busy, segments = time.monotonic(), self._processor(), self._tcp()
        line = self._sent * 8 / max(now - self._at, 1e-3) / self.line_bps
        processor = _share(busy, self._busy)
        lost = _share(segments, self._segments)
        self._at, self._sent, self._busy, self._segments = now, 0, busy, segments
        return min(1.0, max(line, processor)), lost

    def _processor(self) -> tuple[int, int]:
        """Give ticks spent busy and ticks in all, of this machine."""
        with suppress(OSError, ValueError, IndexError):
            ticks = [int(word) for word in (self.proc / "stat").read_text().split("\n", 1)[0].split()[1:9]]
            return sum(ticks) - ticks[3] - ticks[4], sum(ticks)
        return 0, 0

    def _tcp(self) -> tuple[int, int]:
        """Give segments sent again and segments sent, of this machine."""
        with suppress(OSError, ValueError, KeyError):
            lines = [line.split() for line in (self.proc / "net" / "snmp").read_text().splitlines()]
            names, values = (line for line in lines if line[0] == "Tcp:")
            told = dict(zip(names[1:], values[1:], strict=True))
            again = int(told["RetransSegs"])
            return again, int(told["OutSegs"]) + again
        return 0, 0


def _share(now: tuple[int, int], before: tuple[int, int]) -> float:
    part, whole = now[0] - before[0], now[1] - before[1]
    return min(1.0, max(0.0, part / whole)) if whole > 0 else 0.0
