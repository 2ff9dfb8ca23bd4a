"""The settings that jobs and streams share."""

from __future__ import annotations

from typing import Any, ClassVar, cast

from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.inference.core.tracks import Mode, Plan


class Planned(models.Model):
    """How frames are cached; left out, `psnr_db` and `eps` follow the agreement that is measured."""

    class Mode(models.TextChoices):
        """What the cache promises."""

        EXACT = "exact", _("Exact")
        BUDGET = "budget", _("Budget")

    SETTINGS: ClassVar = ("mode", "block", "psnr_db", "eps", "motion", "expiry", "every")

    mode = models.CharField(max_length=6, choices=Mode, default=Mode.EXACT)
    block = models.PositiveSmallIntegerField(default=16, help_text=_("Pixels."))
    psnr_db = models.FloatField(null=True, blank=True, help_text=_("A block this close to the reference is reused."))
    eps = models.FloatField(null=True, blank=True, help_text=_("Changes below so many deviations stop spreading."))
    motion = models.BooleanField(default=False)
    expiry = models.PositiveIntegerField(default=300, help_text=_("A full run every so many frames; 0 is never."))
    every = models.PositiveIntegerField(
        default=30, help_text=_("The plain engine runs beside every so many frames, to measure; 0 is never.")
    )
    rung = models.SmallIntegerField(null=True, editable=False, help_text=_("How tight calibration holds thresholds."))

    class Meta:
        abstract = True

    def plan(self) -> Plan:
        """Say it in the engine's words."""
        values = self.settings()
        return Plan(**{**values, "mode": cast(Mode, values["mode"])})

    def settings(self) -> dict[str, Any]:
        """Give the settings by name."""
        return {name: getattr(self, name) for name in self.SETTINGS}
