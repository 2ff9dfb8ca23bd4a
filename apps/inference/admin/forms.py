"""Forms of the inference pages: the same fields as the API, checked by the same services."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _
from unfold.widgets import (
    UnfoldAdminFileFieldWidget,
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanSwitchWidget,
)

from apps.access.core.callers import Caller
from apps.inference.models import Job, Network

TEXT, NUMBER, CHOICE = UnfoldAdminTextInputWidget, UnfoldAdminIntegerFieldWidget, UnfoldAdminSelectWidget


class PlanForm(forms.Form):
    """A model and how frames are cached."""

    model = forms.ChoiceField(label=_("Model"), widget=CHOICE)
    mode = forms.ChoiceField(
        label=_("Mode"), choices=Job.Mode.choices, widget=CHOICE,
        help_text=_("Exact: as the plain engine computes. Budget: faster, at an agreement that is measured."),
    )  # fmt: skip

    def __init__(self, caller: Caller, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        rows = Network.objects.filter(workspace_id=caller.workspace_id, status=Network.Status.DONE).order_by("name")
        field = self.fields["model"]
        if isinstance(field, forms.ChoiceField):
            field.choices = [(str(row.pk), f"{row.name} ({row.input_width}×{row.input_height})") for row in rows]

    def plan(self) -> dict[str, Any]:
        """Give the settings that were filled in."""
        names = ("mode", "block", "psnr_db", "eps", "motion", "expiry", "every")
        return {name: self.cleaned_data[name] for name in names if self.cleaned_data.get(name) is not None}


class JobForm(PlanForm):
    """A video and how it is run."""

    file = forms.FileField(label=_("Video"), required=False, widget=UnfoldAdminFileFieldWidget)
    path = forms.CharField(
        label=_("… or a file in the media folder"),
        required=False,
        widget=TEXT,
        help_text=_("Such as cameras/door.mp4."),
    )
    block = forms.IntegerField(label=_("Block, pixels"), initial=16, min_value=4, max_value=256, widget=NUMBER)
    psnr_db = forms.FloatField(
        label=_("Reuse blocks from, dB"), required=False, min_value=10, max_value=100, widget=TEXT,
        help_text=_("Budget mode. Empty: chosen by measured agreement."),
    )  # fmt: skip
    eps = forms.FloatField(
        label=_("Stop changes below, deviations"), required=False, min_value=0, max_value=10, widget=TEXT,
        help_text=_("Budget mode. Empty: chosen by measured agreement."),
    )  # fmt: skip
    expiry = forms.IntegerField(
        label=_("Full run every … frames"), initial=300, min_value=0, max_value=1_000_000, widget=NUMBER
    )
    every = forms.IntegerField(
        label=_("Plain run beside every … frames"), initial=30, min_value=0, max_value=1_000_000, widget=NUMBER
    )
    motion = forms.BooleanField(label=_("Follow a moving camera"), required=False, widget=UnfoldBooleanSwitchWidget)
    field_order = ("file", "path", "model", "mode")

    def clean(self) -> dict[str, Any]:
        """Demand one video."""
        values = super().clean() or {}
        if bool(values.get("file")) == bool(values.get("path")):
            self.add_error("file", _("Choose a video, or name one in the media folder."))
        return values


class NetworkForm(forms.Form):
    """An ONNX file and what the engine must know of it."""

    file = forms.FileField(label=_("ONNX file"), widget=UnfoldAdminFileFieldWidget)
    name = forms.CharField(label=_("Name"), max_length=120, widget=TEXT)
    task = forms.ChoiceField(label=_("Task"), choices=Network.Task.choices, widget=CHOICE)
    input_width = forms.IntegerField(
        label=_("Input width"), required=False, min_value=1, max_value=8192, widget=NUMBER,
        help_text=_("Only where the file leaves it free."),
    )  # fmt: skip
    input_height = forms.IntegerField(
        label=_("Input height"), required=False, min_value=1, max_value=8192, widget=NUMBER
    )
    mean = forms.CharField(label=_("Mean"), initial="0, 0, 0", widget=TEXT, help_text=_("Red, green, blue; of 0 to 1."))
    std = forms.CharField(label=_("Deviation"), initial="1, 1, 1", widget=TEXT)
    labels = forms.CharField(
        label=_("Labels"), required=False, widget=UnfoldAdminTextareaWidget, help_text=_("One a line.")
    )
