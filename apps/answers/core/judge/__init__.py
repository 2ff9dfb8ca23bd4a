"""Judges: may this golden answer be served for that question? A language model, a fitted offline judge, or people."""

from apps.answers.core.judge.chat import ChatJudge
from apps.answers.core.judge.exemplars import Exemplars
from apps.answers.core.judge.human import HumanJudge
from apps.answers.core.judge.offline import Example, OfflineJudge
from apps.answers.core.judge.rubric import RUBRIC, Judge, Judgement, Pair, Verdict, unsure

__all__ = [
    "RUBRIC",
    "ChatJudge",
    "Example",
    "Exemplars",
    "HumanJudge",
    "Judge",
    "Judgement",
    "OfflineJudge",
    "Pair",
    "Verdict",
    "unsure",
]
