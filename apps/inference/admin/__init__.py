"""The console's pages of the inference cache."""

from apps.inference.admin import home, jobs, networks, streams

__all__ = ["home", "jobs", "networks", "streams"]
