"""Golden answers: the curators' main list and form, with every act of their life cycle."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Any

from django.contrib import admin
from django.db.models import F, Func, Q, QuerySet, TextField
from django.db.models.functions import Now
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import path, reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from django.views.decorators.http import require_POST
from unfold.decorators import display

from apps.access.admin.desk import caller_of, demand, told
from apps.access.admin.tables import short
from apps.answers.admin import acts, exploring, transfers
from apps.answers.admin.drafts import GoldenForm
from apps.answers.admin.history import panels
from apps.answers.admin.spaces import AnswersDesk, NamespaceFilter, as_uuid, day, moment
from apps.answers.models import GoldenAnswer
from apps.answers.models.served import MOST, served_and_promoted
from apps.answers.services import golden

Status = GoldenAnswer.Status
COLOURS = {"draft": "info", "in_review": "warning", "approved": "primary", "published": "success", "retired": "default"}


class TagFilter(admin.SimpleListFilter):
    """Narrow the list to one tag."""

    title = lazy("tag")
    parameter_name = "tag"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Offer the tags in use."""
        rows = model_admin.get_queryset(request).annotate(
            tag=Func(F("tags"), function="unnest", output_field=TextField())
        )
        return [(tag, tag) for tag in rows.order_by("tag").values_list("tag", flat=True).distinct()[:200]]

    def queryset(self, request: HttpRequest, queryset: QuerySet[GoldenAnswer]) -> QuerySet[GoldenAnswer]:
        """Keep what bears the tag."""
        value = self.value()
        return queryset.filter(tags__contains=[value]) if value else queryset


class ValidityFilter(admin.SimpleListFilter):
    """Narrow the list by what is due."""

    title = lazy("validity")
    parameter_name = "validity"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Offer the states of a validity window."""
        return [
            ("now", _("Served now")),
            ("later", _("Not yet valid")),
            ("expiring", _("Ends within 30 days")),
            ("expired", _("Has ended")),
            ("due", _("Review is due")),
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[GoldenAnswer]) -> QuerySet[GoldenAnswer]:
        """Keep one state."""
        soon = timezone.now() + timedelta(days=30)
        served = queryset.filter(in_force__isnull=False)
        ended = Q(in_force__valid_until__lte=Now())
        states = {
            "now": served.exclude(ended).exclude(in_force__valid_from__gt=Now()),
            "later": served.filter(in_force__valid_from__gt=Now()),
            "expiring": served.filter(in_force__valid_until__gt=Now(), in_force__valid_until__lte=soon),
            "expired": served.filter(ended),
            "due": served.filter(review_by__lte=timezone.now().date()),
        }
        return states.get(self.value() or "", queryset)


@admin.register(GoldenAnswer)
class GoldenAdmin(acts.BulkActs, AnswersDesk):
    """Golden answers of this workspace."""

    adds = changes = "curator"
    people = ("author",)
    form = GoldenForm
    list_display = (
        "asked",
        "shown_status",
        "shown_tags",
        "valid",
        "served",
        "promoted",
        "space",
        "changed",
    )
    list_display_links = ("asked",)
    list_select_related = ("namespace", "in_force", "owner")
    list_filter = ("status", NamespaceFilter, TagFilter, ValidityFilter)
    list_before_template = "answers/golden_list.html"
    search_fields = ("question",)
    search_help_text = lazy("Words of question or answer, or a tag")
    ordering = ("-updated_at",)
    sortable_by = ("changed",)
    actions = ("submit_selected", "approve_selected", "publish_selected", "retire_selected")
    change_form_outer_before_template = "answers/golden_acts.html"
    change_form_before_template = "answers/golden_seen.html"
    change_form_outer_after_template = "answers/golden_panels.html"
    warn_unsaved_form = True

    @display(description=lazy("Question"))
    def asked(self, row: GoldenAnswer) -> str:
        """Show the question."""
        return short(row.question)

    @display(description=lazy("Status"), label=COLOURS)
    def shown_status(self, row: GoldenAnswer) -> tuple[str, str]:
        """Show the status of the working copy."""
        return row.status, row.get_status_display()

    @display(description=lazy("Tags"))
    def shown_tags(self, row: GoldenAnswer) -> str:
        """Show the tags."""
        return ", ".join(row.tags) or "–"

    @display(description=lazy("Served"))
    def served(self, row: GoldenAnswer) -> str:
        """Show how often it was served."""
        return _capped(getattr(row, "served_count", 0))

    @display(description=lazy("Promoted"))
    def promoted(self, row: GoldenAnswer) -> str:
        """Show how many other questions point at it."""
        return _capped(getattr(row, "promoted_count", 0))

    @display(description=lazy("Namespace"))
    def space(self, row: GoldenAnswer) -> str:
        """Show the namespace."""
        return row.namespace.name

    @display(description=lazy("In force"))
    def valid(self, row: GoldenAnswer) -> str:
        """Say which version serves, and until when."""
        version = row.in_force
        if version is None:
            return "–"
        now = timezone.now()
        if version.valid_until and version.valid_until <= now:
            return _("v%d, has ended") % version.number
        if version.valid_from and version.valid_from > now:
            return _("v%(number)d, from %(day)s") % {"number": version.number, "day": day(version.valid_from)}
        if version.valid_until:
            return _("v%(number)d, until %(day)s") % {"number": version.number, "day": day(version.valid_until)}
        return _("v%d") % version.number

    @display(description=lazy("Changed"), ordering="updated_at")
    def changed(self, row: GoldenAnswer) -> str:
        """Show when it was changed."""
        return moment(row.updated_at)

    def complete(self, request: HttpRequest, rows: list[Any]) -> None:
        """Count what was served of the page's rows in one statement."""
        super().complete(request, rows)
        counts = served_and_promoted([row.pk for row in rows])
        for row in rows:
            row.served_count, row.promoted_count = counts[row.pk]

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Find words of the question or the answer, a tag, or an id."""
        term = search_term.strip()
        if not term:
            return queryset, False
        if (key := as_uuid(term)) is not None:
            return queryset.filter(pk=key), False
        said = Q(question__icontains=term) | Q(answer__icontains=term) | Q(tags__contains=[term])
        return queryset.filter(said), False

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Offer the statuses above the list, and the ways in and out."""
        chips = [("", _("All")), *Status.choices]
        more = {
            "chips": chips,
            "chosen": request.GET.get("status__exact", ""),
            "may_curate": self.has_add_permission(request),
        }
        response: HttpResponse = super().changelist_view(request, {**(extra_context or {}), **more})
        return response

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Begin a draft; saving stays with it."""
        more = {**(extra_context or {}), "show_save_and_continue": False}
        response: HttpResponse = super().add_view(request, form_url, more)
        return response

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """The namespace is chosen once."""
        first = ("question", "answer", "aliases")
        return (
            (None, {"fields": first if obj else ("namespace", *first)}),
            (
                _("Validity and care"),
                {"fields": ("tags", "valid_from", "valid_until", ("owner", "review_by"), "attachments")},
            ),
        )

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        """Make the form of this request's workspace."""
        return type("Form", (super().get_form(request, obj, change, **kwargs),), {"caller": caller_of(request)})

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show the form between what can be done and what is known of the answer."""
        row = self.one(request, object_id)
        more = panels(row) if request.method == "GET" else {}
        more |= {"acts": acts.open_to(request, row), "row": row, "show_save_and_continue": False}
        response: HttpResponse = super().change_view(request, object_id, form_url, {**(extra_context or {}), **more})
        return response

    def save_model(self, request: HttpRequest, obj: GoldenAnswer, form: Any, change: bool) -> None:
        """Draft or edit through the service."""
        caller, values = demand(request, "curator"), form.written()
        if not change:
            row = golden.draft(caller, form.cleaned_data["namespace"].name, values)
        elif values:
            row = golden.edit(caller, obj.pk, values)
        else:
            return
        obj.__dict__.update(row.__dict__)

    def response_add(
        self, request: HttpRequest, obj: GoldenAnswer, post_url_continue: str | None = None
    ) -> HttpResponse:
        """Stay with a new draft: next comes its review."""
        if "_addanother" in request.POST:
            response: HttpResponse = super().response_add(request, obj, post_url_continue)
            return response
        self.message_user(request, _("Saved as a draft. Submit it when it is ready for review."), "SUCCESS")
        return self._stay(obj)

    def response_change(self, request: HttpRequest, obj: GoldenAnswer) -> HttpResponse:
        """Stay with a changed text."""
        if "_addanother" in request.POST:
            response: HttpResponse = super().response_change(request, obj)
            return response
        self.message_user(request, _("Saved: %s.") % obj.get_status_display().lower(), "SUCCESS")
        return self._stay(obj)

    def _stay(self, obj: GoldenAnswer) -> HttpResponse:
        return HttpResponseRedirect(reverse("admin:answers_goldenanswer_change", args=[obj.pk]))

    def get_urls(self) -> list[Any]:
        """Add the acts, the conflict map, and the ways in and out."""
        wrap = self.admin_site.admin_view
        return [
            path("<uuid:object_id>/act/<slug:verb>/", wrap(require_POST(self.act)), name="answers_goldenanswer_act"),
            path("try/", wrap(partial(exploring.try_it, self)), name="answers_goldenanswer_try"),
            path("unanswered/", wrap(partial(exploring.unanswered, self)), name="answers_goldenanswer_unanswered"),
            path("coverage/", wrap(partial(exploring.coverage, self)), name="answers_goldenanswer_coverage"),
            path("conflicts/", wrap(self.conflicts), name="answers_goldenanswer_conflicts"),
            path("import/", wrap(self.bring_in), name="answers_goldenanswer_import"),
            path("export/", wrap(self.carry_out), name="answers_goldenanswer_export"),
            *super().get_urls(),
        ]

    def act(self, request: HttpRequest, object_id: Any, verb: str) -> HttpResponse:
        """Do one act to one answer."""
        row = self.one(request, str(object_id))
        with told(request):
            acts.perform(request, row, verb)
        if verb == "remove" and not GoldenAnswer.objects.filter(pk=row.pk).exists():
            return HttpResponseRedirect(reverse("admin:answers_goldenanswer_changelist"))
        return self._stay(row)

    def conflicts(self, request: HttpRequest) -> HttpResponse:
        """List pairs of golden questions that stand too close and answer differently."""
        spaces, chosen = exploring.chosen_space(request)
        pairs = golden.conflict_map(chosen, 100) if chosen else []
        return self.page(request, "answers/conflicts.html", _("Conflicts"), spaces=spaces, chosen=chosen, pairs=pairs)

    def bring_in(self, request: HttpRequest) -> HttpResponse:
        """Import in two steps: a dry run, then the confirmation."""
        return transfers.bring_in(self, request)

    def carry_out(self, request: HttpRequest) -> HttpResponse:
        """Export CSV or JSON lines."""
        return transfers.carry_out(request)


def _capped(count: int) -> str:
    return f"{MOST:,}+" if count >= MOST else str(count)
