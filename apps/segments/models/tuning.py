"""What an operator sets for all plans of a workspace: weights of the value, limits, and what is looked at."""

from __future__ import annotations

from typing import Any, ClassVar

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.access.models import Row, Workspace

WEIGHT = [MinValueValidator(0.0), MaxValueValidator(10.0)]
SHARE = [MinValueValidator(0.0), MaxValueValidator(0.5)]


def check_tags(value: Any) -> None:
    """Refuse what is not an object of tags and weights from 0 to 10."""
    if not isinstance(value, dict) or not all(
        isinstance(weight, int | float) and not isinstance(weight, bool) and 0 <= weight <= 10
        for weight in value.values()
    ):
        raise ValidationError(_('Write an object of tags and weights from 0 to 10, like {"exam": 1.5}.'))


class Tuning(Row):
    """One workspace's settings; without a row the defaults hold."""

    workspace = models.OneToOneField(Workspace, models.CASCADE, related_name="tuning")
    density = models.FloatField(
        _("Knowledge density"), default=0.3, validators=WEIGHT,
        help_text=_("In lectures a segment counts 1 + this x its density of telling words."),
    )  # fmt: skip
    first_minute = models.FloatField(_("First minute"), default=1.2, validators=WEIGHT, help_text=_("Factor."))
    exercise = models.FloatField(
        _("Exercises"), default=1.5, validators=WEIGHT, help_text=_("Factor of videos with a linked exercise.")
    )
    tags = models.JSONField(
        _("Tags"), default=dict, blank=True, validators=[check_tags], help_text=_('Factors by tag, like {"exam": 1.5}.')
    )
    pin_share = models.FloatField(
        _("Pins' share"), default=0.05, validators=SHARE, help_text=_("Of an edge, at most; pins over it are refused.")
    )
    source_score = models.BooleanField(
        _("WorldCache's own score"), default=False,
        help_text=_("Probability x size / root of age instead of the expected next access. Keeps much like LRU."),
    )  # fmt: skip
    source_marks = models.BooleanField(
        _("WorldCache's own marks"), default=False,
        help_text=_("The origin limit falls above 10% retransmissions and recovers below 5%, not 2% and 0.5%."),
    )  # fmt: skip
    automatic = models.BooleanField(
        _("Act by itself"), default=False, help_text=_("When hits collapse, the measures that fit are taken at once.")
    )
    pictures = models.BooleanField(_("Look at pictures"), default=True)
    captions = models.BooleanField(_("Read captions"), default=True)
    slides = models.BooleanField(
        _("Read slides"), default=True, help_text=_("Where a lecture has no captions; seconds for each slide.")
    )

    MULTIPLIERS: ClassVar = ("density", "first_minute", "exercise", "tags")

    class Meta:
        verbose_name = _("tuning")
        verbose_name_plural = _("tuning")

    def __str__(self) -> str:
        return str(_("Weights and measures"))
