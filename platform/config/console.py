"""How the console looks, and where its sidebar leads."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.templatetags.static import static
from django.urls import reverse
from django.utils.module_loading import import_string
from django.utils.translation import gettext_lazy as _

HOME = "apps.answers.admin.home"
Page = tuple[Any, str, str, str, str]  # title, icon, URL name, who sees it, what is written beside it
# The same stone and gold as the site's own pages.
SHADES = ("50", "100", "200", "300", "400", "500", "600", "700", "800", "900", "950")
STONE = ("f6f5f2", "f0eee9", "e5e3dd", "d2cfc7", "9a9ea8", "666b76", "545965", "434852", "2b2f37", "1b1e23", "131519")
GOLD = ("fbf5e6", "f4e8c8", "ead39b", "e0bf70", "dcb057", "d9a63a", "8a6210", "74520c", "5a3f0a", "45300a", "2b1e06")

GROUPS: tuple[tuple[Any, tuple[Page, ...]], ...] = (
    (
        "",
        (
            (_("Desk"), "home", "admin:index", "anybody", ""),
            (_("Live dashboard"), "monitoring", "dashboard", "anybody", ""),
        ),
    ),
    (
        _("Curate"),
        (
            (_("Golden answers"), "verified", "admin:answers_goldenanswer_changelist", "reads", "golden_badge"),
            (_("Review queue"), "rule", "admin:answers_verification_review", "reads", "reviews_badge"),
            (_("Unanswered"), "contact_support", "admin:answers_goldenanswer_unanswered", "reads", ""),
            (_("Try a question"), "experiment", "admin:answers_goldenanswer_try", "reads", ""),
            (_("Coverage"), "event_available", "admin:answers_goldenanswer_coverage", "reads", ""),
            (_("Conflicts"), "call_split", "admin:answers_goldenanswer_conflicts", "reads", ""),
            (_("Feedback"), "thumbs_up_down", "admin:answers_feedback_changelist", "reads", ""),
            (_("Labels"), "label", "admin:answers_label_changelist", "reads", ""),
        ),
    ),
    (
        _("Operate"),
        (
            (_("Policies"), "tune", "admin:answers_namespace_changelist", "reads", ""),
            (_("Thresholds"), "sliders", "admin:answers_namespace_thresholds", "reads", ""),
            (_("Entries"), "database", "admin:answers_entry_changelist", "reads", ""),
            (_("Query log"), "manage_search", "admin:answers_query_changelist", "reads", ""),
            (_("Verifications"), "gavel", "admin:answers_verification_changelist", "reads", ""),
            (_("Canary runs"), "health_and_safety", "admin:answers_canaryrun_changelist", "reads", ""),
            (_("Calibrations"), "show_chart", "admin:answers_calibration_changelist", "reads", ""),
            (_("Replays"), "replay", "admin:answers_replay_changelist", "reads", ""),
        ),
    ),
    (
        _("Inference"),
        (
            (_("Jobs"), "movie", "admin:inference_job_changelist", "reads", ""),
            (_("Streams"), "videocam", "admin:inference_stream_changelist", "reads", ""),
            (_("Models"), "schema", "admin:inference_network_changelist", "reads", ""),
        ),
    ),
    (
        _("Segments"),
        (
            (_("Videos"), "movie", "admin:segments_video_changelist", "reads", ""),
            (_("Edges"), "lan", "admin:segments_edge_changelist", "reads", ""),
            (_("Pins"), "push_pin", "admin:segments_pin_changelist", "reads", ""),
            (_("Predictors"), "model_training", "admin:segments_predictor_changelist", "reads", ""),
            (_("Weights"), "tune", "admin:segments_tuning_changelist", "operates", ""),
            (_("View log"), "visibility", "admin:segments_event_changelist", "reads", ""),
        ),
    ),
    (
        _("Access"),
        (
            (_("Members"), "group", "admin:access_membership_changelist", "reads", ""),
            (_("API keys"), "key", "admin:access_apikey_changelist", "operates", ""),
            (_("Alarms"), "notifications", "admin:metrics_alarm_changelist", "reads", ""),
            (_("Hooks"), "webhook", "admin:metrics_hook_changelist", "operates", ""),
            (_("Audit log"), "history", "admin:access_auditevent_changelist", "reads", ""),
            (_("Workspaces"), "workspaces", "admin:access_workspace_changelist", "reads", ""),
            (_("People"), "person", "admin:access_user_changelist", "is_superuser", ""),
        ),
    ),
)


def navigation(request: HttpRequest) -> list[dict[str, Any]]:
    """Build the sidebar; of the links that lead to where a person is, the longest is marked."""
    links = {page[2]: reverse(page[2]) for _title, pages in GROUPS for page in pages}
    inner = [link for link in links.values() if link not in {"/", reverse("admin:index")}]
    here = max((link for link in inner if request.path.startswith(link)), key=len, default=request.path)
    return [
        {"title": title, "items": [_link(request, page, links[page[2]], here) for page in pages]}
        for title, pages in GROUPS
    ]


def _link(request: HttpRequest, page: Page, link: str, here: str) -> dict[str, Any]:
    title, icon, _name, allowed, badge = page
    item = {"title": title, "icon": icon, "link": link, "active": lambda request: link == here}
    if allowed != "anybody":
        item["permission"] = f"{HOME}.{allowed}"
    written = import_string(f"{HOME}.{badge}")(request) if badge else ""
    return {**item, "badge": written} if written else item


UNFOLD: dict[str, Any] = {
    "SITE_TITLE": "Touchstone",
    "SITE_HEADER": "Touchstone",
    "SITE_SUBHEADER": _("Is what we have close enough?"),
    "SITE_ICON": lambda request: static("touchstone.svg"),
    "SITE_FAVICONS": [{"rel": "icon", "type": "image/svg+xml", "href": lambda request: static("touchstone.svg")}],
    "SHOW_HISTORY": True,
    "SHOW_VIEW_ON_SITE": False,
    "SHOW_BACK_BUTTON": True,
    "ENVIRONMENT": None,
    "STYLES": [lambda request: static("desk.css")],
    "SCRIPTS": [lambda request: static("desk.js")],
    "GLOBAL_CALLBACK": "apps.access.admin.desk.context",
    "DASHBOARD_CALLBACK": "apps.metrics.admin.home.home",
    "COLORS": {
        name: {shade: f"#{colour}" for shade, colour in zip(SHADES, colours, strict=True)}
        for name, colours in (("base", STONE), ("primary", GOLD))
    },
    "SIDEBAR": {"navigation": "config.console.navigation"},
}
