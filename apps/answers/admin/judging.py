"""The judge's work: verifications and their review, labels, canary runs."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import path, reverse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST
from unfold.decorators import display

from apps.access.admin.tables import short
from apps.answers.admin import review
from apps.answers.admin.spaces import AnswersDesk, BigDesk, NamespaceFilter, number
from apps.answers.models import CanaryRun, Label, Verification

VERDICTS = {"APPROVE": "success", "REJECT": "danger", "UNSURE": "warning", "": "default"}


@admin.register(Verification)
class VerificationAdmin(BigDesk):
    """Near misses and what was said of them; the review queue is the page behind it."""

    people = ("judged_by",)
    list_display = (
        "created_at", "asked", "golden_asked", "shown_verdict", "status", "alike", "lead", "said_by", "promotion",
        "space",
    )  # fmt: skip
    list_display_links = ("created_at", "asked")
    list_filter = ("verdict", "status", NamespaceFilter, "created_at")
    list_before_template = "answers/verification_list.html"

    @display(description=_("Question"))
    def asked(self, row: Verification) -> str:
        """Show the question."""
        return short(row.question, 70)

    @display(description=_("Golden question"))
    def golden_asked(self, row: Verification) -> str:
        """Show the golden question."""
        return short(row.golden_question, 70)

    @display(description=_("Verdict"), label=VERDICTS)
    def shown_verdict(self, row: Verification) -> tuple[str, str]:
        """Show the verdict."""
        return row.verdict, row.get_verdict_display() or "–"

    @display(description=_("Similarity"))
    def alike(self, row: Verification) -> str:
        """Show the similarity."""
        return number(row.similarity)

    @display(description=_("Margin"))
    def lead(self, row: Verification) -> str:
        """Show the margin."""
        return number(row.margin)

    @display(description=_("Said by"))
    def said_by(self, row: Verification) -> str:
        """Name the judge or the person."""
        return str(getattr(row, "judged_by_name", row.judged_by)) or "–"

    @display(description=_("Namespace"))
    def space(self, row: Verification) -> str:
        """Show the namespace."""
        return row.namespace.name

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Read one verification where it can be decided."""
        row = self.one(request, object_id)
        query = f"?namespace={row.namespace.name}&at={row.pk}"
        return HttpResponseRedirect(reverse("admin:answers_verification_review") + query)

    def get_urls(self) -> list[Any]:
        """Add the review queue."""
        wrap = self.admin_site.admin_view
        return [
            path("review/", wrap(self.review), name="answers_verification_review"),
            path("<uuid:object_id>/decide/", wrap(require_POST(self.decide)), name="answers_verification_decide"),
            *super().get_urls(),
        ]

    def review(self, request: HttpRequest) -> HttpResponse:
        """Show one pair of the queue."""
        return review.show(self, request)

    def decide(self, request: HttpRequest, object_id: Any) -> HttpResponse:
        """Take a person's verdict and show the next pair."""
        return review.decide(self, request, self.one(request, str(object_id)))


@admin.register(Label)
class LabelAdmin(BigDesk):
    """Labelled pairs, from which judges and thresholds learn."""

    people = ("by",)
    list_display = (
        "created_at",
        "asked",
        "golden_asked",
        "shown_same",
        "source",
        "canary",
        "alike",
        "lead",
        "said_by",
        "space",
    )
    list_display_links = ("created_at", "asked")
    list_filter = ("same", "source", "canary", NamespaceFilter, "created_at")
    fields = (
        "created_at", "space", "question", "golden_question", "shown_same", "source", "canary", "alike", "lead",
        "said_by", "features",
    )  # fmt: skip
    readonly_fields = ("space", "shown_same", "alike", "lead", "said_by")

    @display(description=_("Question"))
    def asked(self, row: Label) -> str:
        """Show the question."""
        return short(row.question, 70)

    @display(description=_("Golden question"))
    def golden_asked(self, row: Label) -> str:
        """Show the golden question."""
        return short(row.golden_question, 70)

    @display(description=_("Means"), label={"same": "success", "other": "danger"})
    def shown_same(self, row: Label) -> tuple[str, Any]:
        """Say whether they mean the same."""
        return ("same", _("the same")) if row.same else ("other", _("something else"))

    @display(description=_("Similarity"))
    def alike(self, row: Label) -> str:
        """Show the similarity."""
        return number(row.similarity)

    @display(description=_("Margin"))
    def lead(self, row: Label) -> str:
        """Show the margin."""
        return number(row.margin)

    @display(description=_("Said by"))
    def said_by(self, row: Label) -> str:
        """Name who said so."""
        return str(getattr(row, "by_name", row.by)) or "–"

    @display(description=_("Namespace"))
    def space(self, row: Label) -> str:
        """Show the namespace."""
        return row.namespace.name


@admin.register(CanaryRun)
class CanaryAdmin(AnswersDesk):
    """Runs of the judges over the canary set, newest first."""

    list_display = ("created_at", "namespace", "judge", "agreement", "approved", "false_approvals", "bound")
    list_filter = (NamespaceFilter, "created_at")
    ordering = ("-pk",)
    sortable_by = ()
    fields = ("created_at", "namespace", "judge", "total", "decided", "agreed", "approved", "false_approvals", "bound")
    readonly_fields = ("bound",)

    @display(description=_("Agreed"))
    def agreement(self, row: CanaryRun) -> str:
        """Show on how many decided pairs the judge agreed with people."""
        return f"{row.agreed} / {row.decided}"

    @display(description=_("False approvals, at most"))
    def bound(self, row: CanaryRun) -> str:
        """Show the upper 95% bound of the false-approve rate."""
        return f"{row.false_approve_upper:.1%}"
