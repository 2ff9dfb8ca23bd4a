"""People, the workspaces they work in, and their roles there."""

from __future__ import annotations

import dataclasses
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.models import Group
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import path, reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST
from unfold.admin import ModelAdmin
from unfold.decorators import display
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm
from unfold.widgets import UnfoldAdminDecimalFieldWidget, UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from apps.access import services
from apps.access.admin.desk import OWNER, Desk, caller_of, seat, told, user_of
from apps.access.core.prices import Prices
from apps.access.models import Membership, User, Workspace

admin.site.unregister(Group)
PRICES = tuple(item.name for item in dataclasses.fields(Prices))


def _price(label: Any) -> forms.FloatField:
    return forms.FloatField(
        label=label, required=False, min_value=0, max_value=1e9, widget=UnfoldAdminDecimalFieldWidget
    )


@admin.register(User)
class UserAdmin(DjangoUserAdmin, ModelAdmin):  # type: ignore[type-arg]
    """People who may sign in; only superusers manage them."""

    form = UserChangeForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm
    list_display = ("username", "first_name", "last_name", "is_active", "is_superuser", "last_login")
    fieldsets = (
        (None, {"fields": ("username", "password")}),
        (_("Person"), {"fields": ("first_name", "last_name", "email")}),
        (_("May sign in"), {"fields": ("is_active", "is_staff", "is_superuser")}),
    )
    list_filter = ("is_active", "is_superuser")
    filter_horizontal = ()

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Show people to superusers."""
        return bool(request.user.is_active and request.user.is_superuser)


class WorkspaceForm(forms.ModelForm[Workspace]):
    """A workspace and what saved work is worth to it, price by price; an empty price is the default."""

    class Meta:
        model = Workspace
        fields = ("name", "slug")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        known = Prices.from_mapping(self.instance.prices)
        for name in PRICES:
            self.fields[name].initial = getattr(known, name)

    currency = forms.CharField(label=_("Currency"), max_length=8, required=False, widget=UnfoldAdminTextInputWidget)
    call = _price(_("An upstream call"))
    tokens = _price(_("Tokens in one call"))
    seconds = _price(_("Seconds one call takes"))
    cpu_hour = _price(_("An hour of one processor"))
    gigabyte = _price(_("A gigabyte from the origin"))

    def save(self, commit: bool = True) -> Workspace:
        """Keep the prices on the row."""
        given = {name: self.cleaned_data[name] for name in PRICES}
        self.instance.prices = {name: value for name, value in given.items() if value not in (None, "")}
        return super().save(commit)


@admin.register(Workspace)
class WorkspaceAdmin(Desk):
    """Workspaces a person may open; superusers make them, owners name them."""

    workspace_path = "id"
    changes = OWNER
    list_display = ("name", "slug", "created_at")
    form = WorkspaceForm
    fieldsets = ((None, {"fields": ("name", "slug")}), (_("What saved work is worth"), {"fields": PRICES}))
    search_fields = ("name", "slug")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Workspace]:
        """Superusers see every workspace."""
        if request.user.is_active and request.user.is_superuser:
            return Workspace.objects.all()
        return super().get_queryset(request)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """A superuser needs no workspace to make the first one."""
        return bool(request.user.is_superuser) or super().has_view_permission(request, obj)

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Say whether workspaces are shown."""
        return self.has_view_permission(request)

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Only superusers make workspaces."""
        return bool(request.user.is_superuser)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Owners change their own."""
        return bool(request.user.is_superuser) or super().has_change_permission(request, obj)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        """Keep the slug once it is in people's links."""
        return ("slug",) if obj else ()

    def save_model(self, request: HttpRequest, obj: Workspace, form: Any, change: bool) -> None:
        """Save, with a trace in the workspace's own log."""
        super().save_model(request, obj, form, change)
        caller = services.caller_for_user(user_of(request), obj)
        if caller:
            services.record(caller, "changed" if change else "created", obj, fields=form.changed_data)

    def get_urls(self) -> list[Any]:
        """Add the switch between workspaces."""
        switch = self.admin_site.admin_view(require_POST(self.switch))
        view = self.admin_site.admin_view(require_POST(self.keep_view))
        return [
            path("switch/", switch, name="access_workspace_switch"),
            path("view/", view, name="access_workspace_view"),
            *super().get_urls(),
        ]

    def keep_view(self, request: HttpRequest) -> HttpResponse:
        """Save a list as it is shown, or forget a saved view, and go back to the list."""
        here, _mark, query = request.POST.get("list", "").partition("?")
        user, workspace = user_of(request), seat(request).workspace
        if workspace is None or not here.startswith("/admin/"):
            return HttpResponseRedirect(reverse("admin:index"))
        with told(request):
            if key := request.POST.get("remove", ""):
                services.remove_view(user, UUID(key))
            else:
                services.save_view(user, workspace, here, query, request.POST.get("name", ""))
        return HttpResponseRedirect(f"{here}?{query}" if query else here)

    def switch(self, request: HttpRequest) -> HttpResponse:
        """Sit down in another workspace; one that is not open to the person changes nothing."""
        slug = request.POST.get("workspace", "")
        if slug in {row.slug for row in services.workspaces_of(user_of(request))}:
            request.session["workspace"] = slug
        wanted = request.POST.get("next", "")
        here = url_has_allowed_host_and_scheme(wanted, allowed_hosts={request.get_host()})
        return HttpResponseRedirect(wanted if here else reverse("admin:index"))


class MembershipForm(forms.ModelForm[Membership]):
    """Who, and as what."""

    username = forms.CharField(
        label=_("User name"), widget=UnfoldAdminTextInputWidget, help_text=_("Of a person who has an account here.")
    )

    class Meta:
        model = Membership
        fields = ("role",)
        widgets = {"role": UnfoldAdminSelectWidget}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.user_id:
            self.fields["username"].initial = self.instance.user.username
            self.fields["username"].disabled = True

    def clean_username(self) -> str:
        """Refuse somebody who has no account."""
        name = str(self.cleaned_data["username"])
        if not User.objects.filter(username=name).exists():
            raise forms.ValidationError(_("There is no person of this name."))
        return name


@admin.register(Membership)
class MembershipAdmin(Desk):
    """Members of this workspace and their roles."""

    workspace_path = "workspace_id"
    adds = changes = deletes = OWNER
    form = MembershipForm
    list_display = ("user", "shown_role", "created_at")
    list_select_related = ("user", "workspace")
    list_filter = ("role",)
    search_fields = ("user__username", "user__first_name", "user__last_name")
    search_help_text = _("Search by name")

    @display(
        description=_("Role"), label={"owner": "warning", "operator": "info", "curator": "success"}, ordering="role"
    )
    def shown_role(self, row: Membership) -> tuple[str, str]:
        """Show the role."""
        return row.role, row.get_role_display()

    def get_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        """Show the person's name where the form is not."""
        return ("username", "role") if self.has_change_permission(request, obj) else ("user", "role")

    def save_model(self, request: HttpRequest, obj: Membership, form: Any, change: bool) -> None:
        """Admit a person."""
        row = services.admit(caller_of(request), form.cleaned_data["username"], form.cleaned_data["role"])
        obj.__dict__.update(row.__dict__)

    def delete_model(self, request: HttpRequest, obj: Membership) -> None:
        """Dismiss a person."""
        services.dismiss(caller_of(request), obj)

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Ask, then dismiss; the last owner stays."""
        try:
            response: HttpResponse = super().delete_view(request, object_id, extra_context)
        except services.ProblemError as problem:
            self.message_user(request, problem.detail, "ERROR")
            return HttpResponseRedirect(reverse("admin:access_membership_changelist"))
        return response
