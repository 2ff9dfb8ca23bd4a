"""Pages to look before changing anything: try a question, what nobody answers, drag the thresholds."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _

from apps.access.admin.desk import caller_of, demand, may, told
from apps.answers.admin.spaces import spaces_of
from apps.answers.models import Namespace
from apps.answers.services import exploring, policies
from apps.answers.services.exploring import Cluster

MOST_ALIASES = 12
WHY_NEVER = {
    "about_now": _("It asks about now, and the answer changes."),
    "about_me": _("It asks about the person who asks."),
    "action": _("It asks for something to be done."),
}
WORDS = {
    "judged": _("{share} of requests would go to the judge: {calls} verdicts per 1,000 requests, {tokens} tokens"),
    "served": _("{share} of requests would get a golden answer"),
    "wrong": _("{wrong} of {labelled} labelled pairs at or above it differ; at most {upper} with 95% confidence"),
    "unlabelled": _("No labelled pair lies at or above it: nothing is known of its error"),
    "bar": _("Similarity {low} to {high}: {count} requests"),
}


def chosen_space(request: HttpRequest) -> tuple[list[Namespace], Namespace | None]:
    """Give the namespaces, and the one asked for, else `default`, else the first."""
    spaces = list(spaces_of(caller_of(request)))
    named = {space.name: space for space in spaces}
    asked = request.POST.get("namespace") or request.GET.get("namespace", "")
    return spaces, named.get(asked) or named.get("default") or (spaces[0] if spaces else None)


def try_it(desk: Any, request: HttpRequest) -> HttpResponse:
    """Show what a question would get, and why."""
    spaces, space = chosen_space(request)
    question, drafts = request.GET.get("question", "").strip(), "drafts" in request.GET
    trial = None
    if question and space:
        with told(request):
            trial = exploring.try_question(caller_of(request), space, question, drafts=drafts)
    shown: HttpResponse = desk.page(
        request,
        "answers/try.html",
        _("Try a question"),
        spaces=spaces,
        space=space,
        question=question,
        drafts=drafts,
        trial=trial,
        why=WHY_NEVER.get(trial.why_never, "") if trial else "",
    )
    return shown


def unanswered(desk: Any, request: HttpRequest) -> HttpResponse:
    """Show groups of questions that missed; each leads to a draft that has them as aliases."""
    spaces, space = chosen_space(request)
    clusters: list[Cluster] = []
    if space:
        with told(request):
            clusters = exploring.unanswered(space)
    rows = [(cluster, _draft_link(space, cluster)) for cluster in clusters if space]
    shown: HttpResponse = desk.page(
        request,
        "answers/unanswered.html",
        _("Unanswered"),
        spaces=spaces,
        space=space,
        rows=rows,
        may_curate=may(request, "curator"),
    )
    return shown


def _draft_link(space: Namespace, cluster: Cluster) -> str:
    aliases = "\n".join(cluster.questions[1:MOST_ALIASES])
    query = urlencode({"namespace": str(space.pk), "question": cluster.leader, "aliases": aliases})
    return f"{reverse('admin:answers_goldenanswer_add')}?{query}"


def coverage(desk: Any, request: HttpRequest) -> HttpResponse:
    """Show what each tag serves, and the calendar of what begins, ends and is due."""
    spaces, space = chosen_space(request)
    found = exploring.coverage(space) if space else None
    months: dict[Any, list[Any]] = {}
    for each in found.dates if found else ():
        months.setdefault(each.day.replace(day=1), []).append(each)
    shown: HttpResponse = desk.page(
        request,
        "answers/coverage.html",
        _("Coverage"),
        spaces=spaces,
        space=space,
        found=found,
        months=list(months.items()),
    )
    return shown


def thresholds(desk: Any, request: HttpRequest) -> HttpResponse:
    """Let a person drag the thresholds over what was measured, and put them in force."""
    spaces, space = chosen_space(request)
    if request.method == "POST" and space:
        return _apply(request, space)
    explored = exploring.explore(space) if space else None
    shown: HttpResponse = desk.page(
        request,
        "answers/thresholds.html",
        _("Thresholds"),
        spaces=spaces,
        space=space,
        explored=asdict(explored) if explored else None,
        policy=policies.whole(space) if space else None,
        words={name: str(text) for name, text in WORDS.items()},
        may_operate=may(request, "operator"),
    )
    return shown


def _apply(request: HttpRequest, space: Namespace) -> HttpResponse:
    caller = demand(request, "operator")
    with told(request):
        try:
            patch = {name: float(request.POST.get(name, "")) for name in ("tau_static", "sigma_min")}
        except ValueError:
            messages.error(request, _("Thresholds are numbers from 0 to 1."))
        else:
            policies.change(caller, space.name, patch, _("chosen on the thresholds page"))
            messages.success(request, _("In force in every process now."))
    return HttpResponseRedirect(f"{reverse('admin:answers_namespace_thresholds')}?namespace={space.name}")
