"""The dynamic tier: entries, and purging them."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import path, reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from django.utils.translation import ngettext
from unfold.decorators import action, display
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminSplitDateTimeWidget, UnfoldAdminTextInputWidget

from apps.access.admin.desk import demand, may, told
from apps.access.admin.lists import MOST, count_up_to
from apps.access.admin.tables import short
from apps.answers.admin.spaces import BigDesk, NamespaceFilter, link_to, spaces_of
from apps.answers.models import Entry
from apps.answers.services import upkeep

TEXT = {"widget": UnfoldAdminTextInputWidget, "required": False}
MOMENT = {"widget": UnfoldAdminSplitDateTimeWidget, "required": False}


class PurgeForm(forms.Form):
    """What to purge: entries that match everything named here."""

    namespace = forms.ChoiceField(label=lazy("Namespace"), required=False, widget=UnfoldAdminSelectWidget)
    origin = forms.ChoiceField(
        label=lazy("Origin"), required=False, choices=[("", "–"), *Entry.Origin.choices], widget=UnfoldAdminSelectWidget
    )
    golden = forms.UUIDField(label=lazy("Golden answer"), help_text=lazy("Its id."), **TEXT)
    client = forms.CharField(label=lazy("Written by"), help_text=lazy("A key's id, or `backend`."), **TEXT)
    q = forms.CharField(label=lazy("Words of the question"), **TEXT)
    created_after = forms.SplitDateTimeField(label=lazy("Created from"), **MOMENT)
    created_before = forms.SplitDateTimeField(label=lazy("Created before"), **MOMENT)

    def __init__(self, spaces: list[str], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        names = [("", "–"), *((name, name) for name in spaces)]
        self.fields["namespace"] = forms.ChoiceField(
            label=_("Namespace"), required=False, choices=names, widget=UnfoldAdminSelectWidget
        )

    def wanted(self) -> dict[str, Any]:
        """Give the conditions that were named."""
        return {name: value for name, value in self.cleaned_data.items() if value not in (None, "")}


@admin.register(Entry)
class EntryAdmin(BigDesk):
    """Entries of the dynamic tier, newest first."""

    deletes = "operator"
    people = ("by",)
    list_display = (
        "created_at",
        "asked",
        "shown_origin",
        "state",
        "hits",
        "last_hit_at",
        "expires_at",
        "writer",
        "space",
    )
    list_display_links = ("created_at", "asked")
    list_select_related = ("namespace",)
    list_filter = ("origin", NamespaceFilter, ("suspended_at", admin.EmptyFieldListFilter), "created_at")
    list_before_template = "answers/entry_list.html"
    actions = ("purge_selected",)
    fields = (
        "created_at", "space", "question", "shown_origin", "answer", "golden_answer", "verification", "state", "writer",
        "written_at", "expires_at", "hits", "last_hit_at", "who",
    )  # fmt: skip
    readonly_fields = ("space", "shown_origin", "golden_answer", "state", "writer", "who")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Entry]:
        """Leave the vectors where they are."""
        return super().get_queryset(request).defer("vector")

    @display(description=lazy("Question"))
    def asked(self, row: Entry) -> str:
        """Show the question."""
        return short(row.question)

    @display(description=lazy("Origin"), label={"golden": "success", "client": "info", "generated": "default"})
    def shown_origin(self, row: Entry) -> tuple[str, str]:
        """Show where the answer comes from."""
        return row.origin, row.get_origin_display()

    @display(description=lazy("State"), label={"live": "success", "suspended": "danger", "expired": "default"})
    def state(self, row: Entry) -> tuple[str, str]:
        """Say whether it may be served."""
        if row.suspended_at:
            return "suspended", _("Suspended")
        return ("live", _("Live")) if row.expires_at > timezone.now() else ("expired", _("Expired"))

    @display(description=lazy("Written by"))
    def writer(self, row: Entry) -> str:
        """Name who wrote it."""
        return str(getattr(row, "by_name", row.by)) or "–"

    @display(description=lazy("Namespace"))
    def space(self, row: Entry) -> str:
        """Show the namespace."""
        return row.namespace.name

    @display(description=lazy("Golden answer"))
    def golden_answer(self, row: Entry) -> str:
        """Link to the golden answer it points at."""
        if not row.golden_id:
            return "–"
        return link_to("answers_goldenanswer_change", row.golden_id, f"{row.golden} v{row.golden_version}")

    @display(description=lazy("Who was served this"))
    def who(self, row: Entry) -> str:
        """Link to the query log."""
        return link_to("answers_query_changelist", None, _("Show the queries"), f"?entry_id__exact={row.pk}")

    def delete_model(self, request: HttpRequest, obj: Entry) -> None:
        """Delete one entry through the service."""
        upkeep.remove(demand(request, "operator"), obj.pk)

    @action(description=lazy("Purge"), permissions=["delete"])
    def purge_selected(self, request: HttpRequest, rows: QuerySet[Entry]) -> None:
        """Purge the selected entries."""
        keys = list(rows.values_list("pk", flat=True)[:MOST])
        count = upkeep.purge(demand(request, "operator"), {"ids": keys})
        messages.success(request, ngettext("%d entry is gone.", "%d entries are gone.", count) % count)

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Offer operators the purge."""
        more = {"may_purge": may(request, "operator")}
        response: HttpResponse = super().changelist_view(request, {**(extra_context or {}), **more})
        return response

    def get_urls(self) -> list[Any]:
        """Add the purge."""
        purge = self.admin_site.admin_view(self.purge)
        return [path("purge/", purge, name="answers_entry_purge"), *super().get_urls()]

    def purge(self, request: HttpRequest) -> HttpResponse:
        """Show how many entries a filter matches, then purge them once that is confirmed."""
        caller = demand(request, "operator")
        spaces = list(spaces_of(caller).values_list("name", flat=True))
        form = PurgeForm(spaces, request.POST if request.method == "POST" else None)
        found = None
        if request.method == "POST" and form.is_valid():
            if "confirm" in request.POST:
                with told(request):
                    count = upkeep.purge(caller, form.wanted())
                    messages.success(request, ngettext("%d entry is gone.", "%d entries are gone.", count) % count)
                    return HttpResponseRedirect(reverse("admin:answers_entry_changelist"))
            elif form.wanted():
                found = count_up_to(upkeep.matching(caller, form.wanted()))
            else:
                form.add_error(None, _("Say what to purge: an empty filter would purge everything."))
        return self.page(request, "answers/purge.html", _("Purge entries"), form=form, found=found, most=MOST)
