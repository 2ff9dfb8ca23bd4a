"""Verbs of the answers cache, the same from every door."""

from apps.answers.services.asking import count_fail_open, keep_generated, own_model, serve, serve_batch
from apps.answers.services.clockwork import minute, tick
from apps.answers.services.filling import fill
from apps.answers.services.judging import perform_replay
from apps.answers.services.promoting import promote
from apps.answers.services.serving import Question, Served, answer
from apps.answers.services.verifying import override, verify

__all__ = [
    "Question",
    "Served",
    "answer",
    "count_fail_open",
    "fill",
    "keep_generated",
    "minute",
    "override",
    "own_model",
    "perform_replay",
    "promote",
    "serve",
    "serve_batch",
    "tick",
    "verify",
]
