"""Teach, calibrate, watch and replay: everything about judges and thresholds that is not on the request path."""

from apps.answers.services.judging.calibrating import apply, calibrate
from apps.answers.services.judging.governing import judge_record, pause_promotion, resume_promotion, run_canaries, watch
from apps.answers.services.judging.labels import LabelledPair, add_pairs, examples
from apps.answers.services.judging.learning import learn, learn_if_taught, review_queue
from apps.answers.services.judging.replaying import perform_replay, start_replay

__all__ = [
    "LabelledPair",
    "add_pairs",
    "apply",
    "calibrate",
    "examples",
    "judge_record",
    "learn",
    "learn_if_taught",
    "pause_promotion",
    "perform_replay",
    "resume_promotion",
    "review_queue",
    "run_canaries",
    "start_replay",
    "watch",
]
