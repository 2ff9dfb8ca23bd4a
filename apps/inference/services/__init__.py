"""Verbs of the inference cache, the same from every door; what loads the engine does so in the worker only."""

from apps.inference.services.clockwork import minute, tick
from apps.inference.services.jobs import Video, cancel, keep_video, named_video, submit
from apps.inference.services.networks import Facts, find, register, remove, ship
from apps.inference.services.streams import begin, close, post

__all__ = [
    "Facts",
    "Video",
    "begin",
    "cancel",
    "close",
    "find",
    "keep_video",
    "minute",
    "named_video",
    "post",
    "register",
    "remove",
    "ship",
    "submit",
    "tick",
]
