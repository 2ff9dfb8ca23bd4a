"""How far a sweep that reads the query log has come."""

from __future__ import annotations

from django.db import models


class Watermark(models.Model):
    """A sweep has read everything before this moment, and nothing after it."""

    name = models.CharField(max_length=40, primary_key=True)
    until = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.name} until {self.until:%Y-%m-%d %H:%M:%S}"
