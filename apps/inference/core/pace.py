"""Whether reuse pays on this machine: what a share of work costs here, against a plain run."""

from dataclasses import dataclass

_GAIN = 0.2
_MARGIN = 0.88


@dataclass
class Pace:
    """Times are CPU milliseconds of one thread; `credit` counts plain runs that rebuilding may spend.

    `saved_ms` is what reuse has saved so far, `shadow_ms` what checking it has cost.
    """

    plain_ms: float = 0.0
    dense_ms: float = 0.0
    ratio: float = 1.0
    credit: float = 0.6
    saved_ms: float = 0.0
    shadow_ms: float = 0.0

    def saw_plain(self, took: float) -> None:
        """A plain run took this long."""
        self.plain_ms = took if not self.plain_ms else self.plain_ms + _GAIN * (took - self.plain_ms)
        self.credit = min(self.credit + 0.01, 2.0)

    def saw_dense(self, took: float) -> None:
        """A full run through the cache took this long."""
        self.dense_ms = took if not self.dense_ms else self.dense_ms + _GAIN * (took - self.dense_ms)

    def saw_partial(self, share: float, took: float) -> None:
        """A partial run of a predicted share of work took this long."""
        if self.dense_ms and share > 0:
            seen = took / (self.dense_ms * share)
            # Learn quickly from a disappointment: it costs more than a missed chance.
            self.ratio += (2 * _GAIN if seen > self.ratio else _GAIN) * (seen - self.ratio)
            self.ratio = min(max(self.ratio, 0.1), 3.0)
        if self.plain_ms:
            self.credit = min(self.credit + max(0.0, 1 - took / self.plain_ms), 2.0)
            # One run that was held up (a kernel compiled, another process) loses a plain run at most.
            self.saved_ms += max(self.plain_ms - took, -self.plain_ms)

    def saw_reuse(self) -> None:
        """A frame cost next to nothing."""
        self.credit = min(self.credit + 0.5, 2.0)
        self.saved_ms += self.plain_ms

    def saw_shadow(self) -> None:
        """A plain run was made only to compare."""
        self.shadow_ms += self.plain_ms

    def expects(self, share: float) -> float:
        """Milliseconds of a partial run."""
        return self.dense_ms * share * self.ratio

    def pays(self, share: float) -> bool:
        """Whether a partial run of this share beats a plain one."""
        return self.expects(share) < _MARGIN * self.plain_ms

    @property
    def affords(self) -> bool:
        """Whether a full run through the cache is within what dense video may cost (1%) and what reuse has saved."""
        return self.credit >= self._extra()

    def spend(self) -> None:
        """A full run through the cache was decided on."""
        self.credit -= self._extra()

    def _extra(self) -> float:
        """Plain runs that a full run through the cache costs more than a plain one."""
        return max(0.1, self.dense_ms / max(self.plain_ms, 1e-6) - 1)
