"""Namespaces: their policies with history and undo, their judges, and the calibration curve."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from unfold.decorators import display

from apps.access import services as access
from apps.access.admin.desk import back, demand, may, told
from apps.answers.admin import exploring, plots
from apps.answers.admin.rules import PolicyForm
from apps.answers.admin.spaces import AnswersDesk, as_uuid, spaces_of
from apps.answers.core.policy import Policy
from apps.answers.models import Calibration, Namespace, PolicyChange
from apps.answers.services import economics, judging, policies, spaces

SHOWN_CHANGES = 20


@dataclass(frozen=True, slots=True)
class Step:
    """One change of a policy: what each setting was before and after."""

    change: PolicyChange
    by: str
    settings: list[tuple[str, Any, Any]]


class NameForm(forms.ModelForm[Namespace]):
    """A new namespace needs a name; everything else has a default."""

    class Meta:
        model = Namespace
        fields = ("name",)

    taken: frozenset[str] = frozenset()

    def clean_name(self) -> str:
        """Refuse a name that this workspace has already."""
        name = str(self.cleaned_data["name"])
        if name in self.taken:
            raise forms.ValidationError(_("This workspace has a namespace of this name."))
        return name


@admin.register(Namespace)
class NamespaceAdmin(AnswersDesk):
    """Namespaces of this workspace."""

    adds = "operator"
    form = NameForm
    fields = ("name",)
    list_display = ("name", "static", "dynamic", "grey", "judge", "four_eyes", "promotion")
    list_select_related = ()
    search_fields = ("name",)
    ordering = ("name",)

    def within(self, rows: Any, caller: Any) -> Any:
        """Keep the workspace's own."""
        return rows.filter(workspace_id=caller.workspace_id)

    @display(description=lazy("Golden from"))
    def static(self, row: Namespace) -> str:
        """Show from which similarity a golden answer is served."""
        return f"{_policy(row).tau_static:g}"

    @display(description=lazy("Entries from"))
    def dynamic(self, row: Namespace) -> str:
        """Show from which similarity an entry is served."""
        return f"{_policy(row).tau_dynamic:g}"

    @display(description=lazy("Judge from"))
    def grey(self, row: Namespace) -> str:
        """Show from which similarity the judge is asked."""
        return f"{_policy(row).sigma_min:g}"

    @display(description=lazy("Promotion"), label={"runs": "success", "paused": "danger"})
    def promotion(self, row: Namespace) -> tuple[str, str]:
        """Say whether promotion runs."""
        stopped = row.promotion_paused or _policy(row).paused
        return ("paused", _("Paused")) if stopped else ("runs", _("Runs"))

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        """Let the form know which names are taken."""
        taken = frozenset(spaces_of(demand(request, "operator")).values_list("name", flat=True))
        return type("Form", (super().get_form(request, obj, change, **kwargs),), {"taken": taken})

    def save_model(self, request: HttpRequest, obj: Namespace, form: Any, change: bool) -> None:
        """Make the namespace with the default policy."""
        row, _created = policies.change(demand(request, "operator"), obj.name, {})
        obj.__dict__.update(row.__dict__)

    def response_add(self, request: HttpRequest, obj: Namespace, post_url_continue: str | None = None) -> HttpResponse:
        """Go on to the policy."""
        messages.success(request, _("Made with the default policy; change here what does not fit."))
        return back(request, "answers_namespace_change", obj.pk)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show the policy, its curve and its history; take what a person changes."""
        row = self.one(request, object_id)
        form = PolicyForm(row)
        if request.method == "POST":
            demand(request, "operator")
            verb = request.POST.get("act", "save")
            if verb not in ("save", "replay"):
                return self._act(request, row, verb)
            form = PolicyForm(row, request.POST)
            if form.is_valid() and (done := self._saved(request, row, form, replay=verb == "replay")):
                return done
        return self._shown(request, row, form)

    def get_urls(self) -> list[Any]:
        """Add the page on which thresholds are dragged."""
        page = self.admin_site.admin_view(partial(exploring.thresholds, self))
        return [path("thresholds/", page, name="answers_namespace_thresholds"), *super().get_urls()]

    def _saved(self, request: HttpRequest, row: Namespace, form: PolicyForm, *, replay: bool) -> HttpResponse | None:
        """Put the form in force, or replay traffic under it; None when a service refuses."""
        caller = demand(request, "operator")
        with told(request):
            if replay:
                started = judging.start_replay(caller, row, form.policy())
                messages.success(request, _("The replay is queued; nothing is changed yet."))
                return back(request, "answers_replay_change", started.pk)
            values = form.cleaned_data
            policies.change(caller, row.name, form.policy(), values["reason"])
            spaces.configure(caller, row, judge=values["judge"], four_eyes=values["four_eyes"])
            messages.success(request, _("In force in every process now."))
            return back(request, "answers_namespace_change", row.pk)
        return None

    def _act(self, request: HttpRequest, row: Namespace, verb: str) -> HttpResponse:
        """Do what a button beside the form says."""
        caller, key = demand(request, "operator"), as_uuid(request.POST.get("key", "")) or row.pk
        with told(request):
            if verb == "undo" and (change := row.policy_changes.filter(pk=key).first()):
                policies.undo(caller, change)
                messages.success(request, _("The policy from before that change is in force again."))
            elif verb == "calibrate":
                judging.calibrate(caller, row)
                messages.success(request, _("Calibrated on all labels of this namespace."))
            elif verb == "apply" and (found := row.calibrations.filter(pk=key).first()):
                judging.apply(caller, found)
                messages.success(request, _("The proposed thresholds are in force."))
            elif verb == "pause":
                judging.pause_promotion(row, _("Paused by hand."), caller)
                messages.success(request, _("The judge promotes nothing until somebody resumes it."))
            elif verb == "resume":
                judging.resume_promotion(caller, row)
                messages.success(request, _("The judge promotes again."))
            else:
                raise access.Missing(_("There is no such act here."))
        return back(request, "answers_namespace_change", row.pk)

    def _shown(self, request: HttpRequest, row: Namespace, form: PolicyForm) -> HttpResponse:
        row.refresh_from_db()
        may_operate = may(request, "operator")
        if not may_operate:
            for field in form.fields.values():
                field.disabled = True
        study = row.calibrations.order_by("-pk").first()
        seen = judging.judge_record(row)
        return self.page(
            request,
            "answers/namespace.html",
            _("Namespace %s") % row.name,
            row=row,
            form=form,
            may_operate=may_operate,
            study=study,
            curve=_curve(row, study) if study else None,
            record=seen,
            agreement=seen.agreement,
            false_approvals=seen.false_approve_upper() if seen.approved else None,
            judge=row.judge_state,
            worth=economics.of_week(row),
            steps=_steps(row),
        )


def _policy(row: Namespace) -> Policy:
    return Policy.from_mapping(row.policy)


def _curve(row: Namespace, study: Calibration) -> plots.Curve | None:
    marks = [
        (_policy(row).tau_static, _("now"), "now"),
        (study.proposal.get("tau_static"), _("proposed"), "proposed"),
    ]
    return plots.curve(study.curve, marks)


def _steps(row: Namespace) -> list[Step]:
    """List the last changes, newest first, each with only what it changed."""
    changes = list(row.policy_changes.order_by("-pk")[:SHOWN_CHANGES])
    names = access.names(change.by for change in changes)
    return [
        Step(change, names.get(change.by, change.by), differences(change.before, change.after)) for change in changes
    ]


def differences(before: dict[str, Any], after: dict[str, Any]) -> list[tuple[str, Any, Any]]:
    """List the settings in which two policies differ; guards one by one."""
    one, other = Policy.from_mapping(before).to_mapping(), Policy.from_mapping(after).to_mapping()
    flat = [
        {**{name: value for name, value in each.items() if name != "guards"},
         **{f"guard {name}": on for name, on in each["guards"].items()}}
        for each in (one, other)
    ]  # fmt: skip
    return [(name, flat[0].get(name), value) for name, value in flat[1].items() if flat[0].get(name) != value]
