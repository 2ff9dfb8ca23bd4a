"""The human judge: everything goes to the review queue."""

from apps.answers.core.judge.rubric import Judgement, Pair, unsure


class HumanJudge:
    """Leave every pair to people."""

    version = "human:1"

    def judge(self, pair: Pair) -> Judgement:
        """Leave this pair to the review queue."""
        return unsure("waits for a person")
