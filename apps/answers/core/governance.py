"""Watch the judge: how often it agrees with people, how often it approves wrongly, and when to stop trusting it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from apps.answers.core.bounds import upper_bound
from apps.answers.core.judge.rubric import Verdict


@dataclass(frozen=True, slots=True)
class Record:
    """How a judge did on pairs that people labelled; a false approval is an approval of a pair that differs."""

    total: int
    decided: int
    agreed: int
    approved: int
    false_approvals: int

    @property
    def agreement(self) -> float | None:
        """Give the share of decided pairs on which judge and people agree."""
        return self.agreed / self.decided if self.decided else None

    def false_approve_upper(self, confidence: float = 0.95) -> float:
        """Give the upper bound of the share of approvals that are wrong."""
        return upper_bound(self.false_approvals, self.approved, confidence)


def record(pairs: Iterable[tuple[Verdict, bool]]) -> Record:
    """Count verdicts against labels (verdict, whether the pair means the same)."""
    total = decided = agreed = approved = false_approvals = 0
    for verdict, same in pairs:
        total += 1
        decided += verdict is not Verdict.UNSURE
        agreed += (verdict is Verdict.APPROVE and same) or (verdict is Verdict.REJECT and not same)
        approved += verdict is Verdict.APPROVE
        false_approvals += verdict is Verdict.APPROVE and not same
    return Record(total, decided, agreed, approved, false_approvals)


def why_pause(seen: Record, error_budget: float) -> str:
    """Say why promotion must pause; empty while the judge may be trusted.

    The upper 95% bound decides as soon as enough approvals were labelled for it to fit the budget at all; before that
    it would condemn every judge, so only two wrong approvals pause.
    """
    if seen.approved < approvals_needed(error_budget):
        few = seen.false_approvals >= 2
        return f"{seen.false_approvals} of only {seen.approved} approvals were wrong" if few else ""
    bound = seen.false_approve_upper()
    if bound <= error_budget:
        return ""
    return (
        f"up to {bound:.1%} of approvals may be wrong ({seen.false_approvals} of {seen.approved} were), "
        f"over the budget of {error_budget:.1%}"
    )


def approvals_needed(error_budget: float, confidence: float = 0.95) -> int:
    """Give how many faultless approvals bring the bound down to the budget."""
    if not 0 < error_budget < 1:
        return 1
    return math.ceil(math.log(1 - confidence) / math.log(1 - error_budget))
