"""What judging costs and brings: the price of a promotion, and after how many hits it has paid for itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from apps.access.core.prices import Prices
from apps.answers.models import Namespace
from apps.answers.services import noting
from apps.metrics import services as metrics

WEEK_S, STEP_S = 7 * 86_400, 3_600
HOUR_MS = 3_600_000


@dataclass(frozen=True, slots=True)
class Economics:
    """A namespace's judge over some time: verdicts, promotions, promoted hits, tokens; money in `currency`."""

    verdicts: int
    promotions: int
    promoted_hits: int
    tokens: int
    cost: float
    hit_worth: float
    currency: str

    @property
    def cost_per_promotion(self) -> float | None:
        """Give what one promotion cost, rejected near misses included; None without promotions."""
        return self.cost / self.promotions if self.promotions else None

    @property
    def break_even(self) -> float | None:
        """Give after how many hits a promotion has paid for itself; None without promotions, or where hits are free."""
        each = self.cost_per_promotion
        return each / self.hit_worth if each is not None and self.hit_worth else None

    @property
    def hits_per_promotion(self) -> float | None:
        """Give how many hits promoted entries served for each promotion of the same time."""
        return self.promoted_hits / self.promotions if self.promotions else None


def weigh(counts: Mapping[str, int], prices: Prices) -> Economics:
    """Read counts (metrics' names): a token costs what one of an upstream call does, the judge's time is CPU time."""
    told = Counter(dict(counts))
    token = prices.call / prices.tokens if prices.tokens else 0.0
    return Economics(
        verdicts=sum(told[f"verdict:{name}"] for name in ("APPROVE", "REJECT", "UNSURE")),
        promotions=told["promotion:promoted"],
        promoted_hits=max(0, told["origin:golden"] - told["static_hit"]),
        tokens=told["judge_tokens"],
        cost=told["judge_tokens"] * token + told["judge_ms"] / HOUR_MS * prices.cpu_hour,
        hit_worth=prices.call,
        currency=prices.currency,
    )


def of_week(space: Namespace) -> Economics:
    """Weigh the last seven days of a namespace."""
    counts: Counter[str] = Counter()
    for point in metrics.series(space.workspace_id, noting.CACHE, WEEK_S, STEP_S, space.name):
        counts.update(point["counts"])
    return weigh(counts, Prices.from_mapping(space.workspace.prices))
