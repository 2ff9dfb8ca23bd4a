"""The console's pages of the segment cache."""

from apps.segments.admin import edges, home, models, tuning, videos

__all__ = ["edges", "home", "models", "tuning", "videos"]
