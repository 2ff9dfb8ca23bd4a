"""API keys: issued with a secret that is shown once, revoked at once."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST
from unfold.decorators import action, display
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget

from apps.access import services
from apps.access.admin.desk import OWNER, Desk, back, demand, seat, user_of
from apps.access.models import ApiKey

SCOPES = (
    ("client", lazy("Client: ask, fill, give feedback")),
    ("curator", lazy("Curator: write and publish golden answers, review")),
    ("operator", lazy("Operator: change policies, purge, calibrate, replay")),
)


class KeyForm(forms.ModelForm[ApiKey]):
    """What a key may do, and for how long."""

    scopes = forms.MultipleChoiceField(
        label=lazy("Scopes"), choices=SCOPES, widget=UnfoldAdminCheckboxSelectMultipleWidget, initial=["client"]
    )

    class Meta:
        model = ApiKey
        fields = ("name", "scopes", "rate_per_minute", "expires_at")


@admin.register(ApiKey)
class KeyAdmin(Desk):
    """Keys of this workspace; only a digest of each is kept."""

    workspace_path = "workspace_id"
    reads = "operator"
    adds = OWNER
    form = KeyForm
    list_display = ("name", "prefix", "shown_scopes", "state", "rate_per_minute", "expires_at", "last_used_at")
    list_select_related = ("workspace", "created_by")
    search_fields = ("name", "prefix")
    actions = ("revoke_selected",)
    fields = ("name", "scopes", "rate_per_minute", "expires_at")
    change_form_outer_before_template = "admin/access/key_acts.html"

    def get_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        """A key that exists also tells its use."""
        more = ("prefix", "created_by", "created_at", "last_used_at", "revoked_at") if obj else ()
        return (*self.fields, *more)

    @display(description=lazy("Scopes"))
    def shown_scopes(self, row: ApiKey) -> str:
        """Show the scopes."""
        return ", ".join(row.scopes)

    @display(description=lazy("State"), label={"usable": "success", "expired": "warning", "revoked": "danger"})
    def state(self, row: ApiKey) -> tuple[str, str]:
        """Say whether the key can be used."""
        if row.revoked_at:
            return "revoked", _("Revoked")
        if row.expires_at and row.expires_at <= timezone.now():
            return "expired", _("Expired")
        return "usable", _("Usable")

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        """Only owners end keys."""
        return self.has_add_permission(request)

    def save_model(self, request: HttpRequest, obj: ApiKey, form: Any, change: bool) -> None:
        """Issue the key; its secret stays with this request."""
        demand(request, OWNER)
        workspace = seat(request).workspace
        assert workspace is not None
        values = form.cleaned_data
        key, secret = services.issue(
            workspace,
            values["name"],
            values["scopes"],
            expires_at=values["expires_at"],
            rate_per_minute=values["rate_per_minute"],
            by=user_of(request),
        )
        obj.__dict__.update(key.__dict__)
        obj.secret = secret  # type: ignore[attr-defined]

    def response_add(self, request: HttpRequest, obj: ApiKey, post_url_continue: str | None = None) -> HttpResponse:
        """Show the secret this once, in the answer itself: it is never stored, not even in a message."""
        secret = getattr(obj, "secret", "")
        response = self.page(request, "admin/access/key_issued.html", _("Key issued"), key=obj, secret=secret)
        response["Cache-Control"] = "no-store"
        return response

    def get_urls(self) -> list[Any]:
        """Add the button that ends a key."""
        end = self.admin_site.admin_view(require_POST(self.end))
        return [path("<uuid:object_id>/revoke/", end, name="access_apikey_revoke"), *super().get_urls()]

    def end(self, request: HttpRequest, object_id: Any) -> HttpResponse:
        """Revoke one key."""
        demand(request, OWNER)
        row = self.one(request, str(object_id))
        services.revoke(row, user_of(request))
        messages.success(request, _("The key %(name)s is revoked.") % {"name": row.name})
        return back(request, "access_apikey_changelist")

    @action(description=lazy("Revoke"), permissions=["revoke"])
    def revoke_selected(self, request: HttpRequest, rows: QuerySet[ApiKey]) -> None:
        """Revoke the selected keys."""
        count = 0
        for row in rows.filter(revoked_at=None):
            services.revoke(row, user_of(request))
            count += 1
        messages.success(request, ngettext("%d key is revoked.", "%d keys are revoked.", count) % count)
