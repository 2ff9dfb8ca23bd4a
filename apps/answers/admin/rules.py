"""The form of a namespace: its policy, built from the core's own fields, its judge and four eyes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminDecimalFieldWidget,
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanSwitchWidget,
)

from apps.answers.core import guards
from apps.answers.core.policy import COUNTS, NAMES, SHARES, Policy, PolicyError
from apps.answers.models import Namespace

WORDS: dict[str, tuple[Any, Any]] = {
    "tau_static": (_("Serve a golden answer from"), _("Similarity from which a golden answer is served at once.")),
    "tau_dynamic": (_("Serve an entry from"), _("Similarity from which a generated or promoted answer is served.")),
    "sigma_min": (_("Ask the judge from"), _("Nearer than this but not near enough: the judge decides later.")),
    "error_budget": (_("Error budget"), _("The share of served answers that may be wrong.")),
    "margin_direct": (_("Lead over rivals"), _("How much nearer than golden questions with other answers.")),
    "margin_promoted": (_("Promotions may lag"), _("How far behind the best golden answer a promotion may lie.")),
    "entry_ttl_s": (_("Entries live for"), _("Seconds; 604800 is a week.")),
    "max_entries": (_("Most entries"), _("Beyond, the least recently used go.")),
    "judge_after": (_("Judge after"), _("How often a question must be asked first.")),
    "verifications_per_minute": (_("Verifications a minute"), _("More are dropped and counted.")),
    "verifications_per_day": (_("Verifications a day"), _("More are dropped and counted.")),
    "max_queue_age_s": (_("Oldest worth judging"), _("Seconds since the question was last asked.")),
    "verdict_ttl_s": (_("Verdicts hold for"), _("Seconds; after that a pair is judged anew.")),
    "context": (_("Earlier turns"), _("ignore, exact, or last_turns(n): what else must match.")),
    "guards": (_("Guards"), _("Differences that hold a near hit back.")),
    "paused": (_("Paused"), _("Nothing is judged or promoted; serving goes on.")),
}
GROUPS: tuple[tuple[Any, tuple[str, ...]], ...] = (
    (_("Thresholds"), ("tau_static", "tau_dynamic", "sigma_min", "error_budget", "margin_direct", "margin_promoted")),
    (_("Guards"), ("guards", "context")),
    (
        _("Judge"),
        (
            "judge", "four_eyes", "judge_after", "verifications_per_minute", "verifications_per_day",
            "max_queue_age_s", "verdict_ttl_s", "paused",
        ),
    ),
    (_("Entries"), ("entry_ttl_s", "max_entries")),
)  # fmt: skip


class PolicyForm(forms.Form):
    """A whole policy, the judge and four eyes of one namespace."""

    judge = forms.ChoiceField(label=_("Judge"), choices=Namespace.Judge.choices, widget=UnfoldAdminSelectWidget)
    four_eyes = forms.BooleanField(
        label=_("Four eyes"),
        required=False,
        widget=UnfoldBooleanSwitchWidget,
        help_text=_("Authors may not approve their own text."),
    )
    reason = forms.CharField(
        label=_("Reason"),
        required=False,
        max_length=255,
        widget=UnfoldAdminTextInputWidget,
        help_text=_("Kept with the change, for whoever asks later."),
    )

    def __init__(self, row: Namespace, data: Any = None) -> None:
        policy = Policy.from_mapping(row.policy).to_mapping()
        on = [name for name, active in policy["guards"].items() if active]
        start = {**policy, "guards": on, "judge": row.judge, "four_eyes": row.four_eyes}
        super().__init__(data, initial=start)
        self.fields |= {name: _field(name) for name in NAMES}

    def clean(self) -> dict[str, Any]:
        """Let the policy itself say what is wrong, at its fields."""
        values: dict[str, Any] = super().clean() or self.cleaned_data
        if not self.errors:
            try:
                Policy.from_mapping(self.policy())
            except PolicyError as problem:
                for name, message in problem.errors:
                    self.add_error(name if name in self.fields else None, message)
        return values

    def policy(self) -> dict[str, Any]:
        """Give the policy as the service takes it."""
        values = {name: self.cleaned_data[name] for name in NAMES}
        values["guards"] = {name: name in values["guards"] for name in guards.NAMES}
        return values

    def groups(self) -> Iterator[tuple[Any, list[forms.BoundField]]]:
        """Give the fields in their groups; what belongs to none comes last."""
        placed = {name for _title, names in GROUPS for name in names} | {"reason"}
        for title, names in GROUPS:
            yield title, [self[name] for name in names if name in self.fields]
        if rest := [self[name] for name in self.fields if name not in placed]:
            yield _("More"), rest


def _field(name: str) -> forms.Field:
    label, help_text = WORDS.get(name, (name.replace("_", " ").capitalize(), ""))
    told: dict[str, Any] = {"label": label, "help_text": help_text}
    if name in SHARES:
        widget = UnfoldAdminDecimalFieldWidget(attrs={"step": "any", "min": 0, "max": 1})
        return forms.FloatField(min_value=0, max_value=1, widget=widget, **told)
    if name in COUNTS:
        low, high = COUNTS[name]
        return forms.IntegerField(min_value=low, max_value=high, widget=UnfoldAdminIntegerFieldWidget, **told)
    if name == "guards":
        choices = [(each, each.replace("_", " ")) for each in guards.NAMES]
        return forms.MultipleChoiceField(
            choices=choices, required=False, widget=UnfoldAdminCheckboxSelectMultipleWidget, **told
        )
    if name == "paused":
        return forms.BooleanField(required=False, widget=UnfoldBooleanSwitchWidget, **told)
    return forms.CharField(widget=UnfoldAdminTextInputWidget, **told)
