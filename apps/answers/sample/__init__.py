"""The sample workspace's questions: a made-up maker of thermostats, written for this project."""

from apps.answers.sample.questions import LabelledText, SampleAnswer, answers, labels

__all__ = ["LabelledText", "SampleAnswer", "answers", "labels"]
