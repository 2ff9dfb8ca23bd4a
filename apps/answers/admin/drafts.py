"""The form of a golden answer."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget

from apps.access.core.callers import Caller
from apps.access.models import User
from apps.answers.admin.spaces import spaces_of
from apps.answers.models import GoldenAnswer
from apps.answers.services.golden import drafts, texts

WRITTEN = (*texts.TEXT, "owner", "review_by")


class ListField(forms.CharField):
    """A list of strings, written one a line or with commas between."""

    def __init__(self, separator: str = "\n", **more: Any) -> None:
        self.separator = separator
        widget = UnfoldAdminTextareaWidget(attrs={"rows": 3}) if separator == "\n" else UnfoldAdminTextInputWidget()
        super().__init__(**{"required": False, "widget": widget, "strip": False, **more})

    def prepare_value(self, value: Any) -> Any:
        """Write a list for the form."""
        between = self.separator if self.separator == "\n" else f"{self.separator} "
        return between.join(value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        """Read a list, without empty items and without repeating any."""
        if isinstance(value, list):
            return value
        items = [item.strip() for item in str(value or "").replace("\r", "").split(self.separator)]
        return list(dict.fromkeys(item for item in items if item))

    def has_changed(self, initial: Any, data: Any) -> bool:
        """Compare lists, not spellings of them."""
        return bool(self.to_python(initial or []) != self.to_python(data))


class GoldenForm(forms.ModelForm[GoldenAnswer]):
    """Question, answer and what goes with them; checked by the same rules as every other door."""

    aliases = ListField(label=_("Aliases"), help_text=_("Other ways to ask, one a line; an exact match is served."))
    tags = ListField(",", label=_("Tags"), help_text=_("Separated by commas."))
    attachments = ListField(label=_("Links"), help_text=_("One a line, with http or https."))

    class Meta:
        model = GoldenAnswer
        fields = ("namespace", *WRITTEN)
        widgets = {
            "question": UnfoldAdminTextareaWidget(attrs={"rows": 2}),
            "answer": UnfoldAdminTextareaWidget(attrs={"rows": 9}),
        }
        help_texts = {
            "question": _("As a person would ask it."),
            "valid_from": _("In UTC. Empty: from publication on."),
            "valid_until": _("In UTC. Empty: for good."),
            "review_by": _("When somebody should look at this again."),
            "owner": _("Who looks after it."),
        }

    caller: Caller  # set on the class that an admin makes for one request

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "owner" in self.fields:
            members = User.objects.filter(memberships__workspace_id=self.caller.workspace_id).order_by("username")
            self.fields["owner"] = forms.ModelChoiceField(
                members, required=False, label=_("Owner"), help_text=_("Who looks after it."),
                widget=UnfoldAdminSelectWidget(),
            )  # fmt: skip
        if "namespace" in self.fields:
            spaces = spaces_of(self.caller)
            self.fields["namespace"] = forms.ModelChoiceField(
                spaces, label=_("Namespace"), initial=spaces.filter(name="default").first() or spaces.first(),
                widget=UnfoldAdminSelectWidget(), empty_label=None,
            )  # fmt: skip

    def clean(self) -> dict[str, Any]:
        """Check the whole text as the service will, so that every message stands at its field."""
        values: dict[str, Any] = super().clean() or self.cleaned_data
        if self.errors:
            return values
        if self._changed_meanwhile():
            raise forms.ValidationError(
                _("Somebody changed this golden answer since you opened it. Saving again replaces what they wrote.")
            )
        for field, message in texts.problems({**drafts.EMPTY, **values}):
            self.add_error(field, message)
        return values

    def written(self) -> dict[str, Any]:
        """Give the changed values as the service takes them."""
        values = {name: self.cleaned_data[name] for name in WRITTEN if name in self.changed_data}
        if "owner" in values:
            values["owner"] = values["owner"].username if values["owner"] else None
        return values

    def _changed_meanwhile(self) -> bool:
        seen = parse_datetime(self.data.get("seen", ""))
        return self.instance.pk is not None and seen is not None and seen != self.instance.updated_at
