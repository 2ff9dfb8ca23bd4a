"""Send notices: signed webhooks and e-mail, tried again ever later until they are taken."""

from __future__ import annotations

import json
import time
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import httpx
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage
from django.core.validators import EmailValidator
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.access.core.callers import Caller
from apps.access.services import Invalid, record
from apps.metrics.core import signing
from apps.metrics.models import Hook, Notice

TIMEOUT_S = 5.0
PAUSES = (timedelta(seconds=30), timedelta(minutes=5), timedelta(minutes=30), timedelta(hours=3))
Status = Notice.Status


class NotTaken(Exception):
    """The other side did not take a message."""


def save(caller: Caller, hook: Hook) -> Hook:
    """Create or change a hook; a new one gets its secret.

    Raises:
        Invalid: no such address can be told.
    """
    _check(hook)
    if Hook.objects.filter(workspace_id=caller.workspace_id, name=hook.name).exclude(pk=hook.pk).exists():
        raise Invalid(_("There is a hook of this name already."), field="name")
    new = hook._state.adding
    hook.workspace_id = caller.workspace_id
    hook.secret = hook.secret or signing.new_secret()
    hook.save()
    # An address can be a secret by itself, and viewers read the audit log.
    record(caller, "hook.create" if new else "hook.change", hook, name=hook.name, kind=hook.kind)
    return hook


def remove(caller: Caller, hook: Hook) -> None:
    """Forget a hook and what waits for it."""
    record(caller, "hook.delete", hook, name=hook.name)
    hook.delete()


def perform(row: Notice) -> None:
    """Send a message; what is not taken is tried again later, four times."""
    hook = row.hook
    if not hook.active:
        Notice.objects.filter(pk=row.pk).update(status=Status.CANCELLED, finished_at=Now())
        return
    try:
        send = _post if hook.kind == Hook.Kind.WEBHOOK else _mail
        send(row, hook)
    except (NotTaken, OSError, httpx.HTTPError) as problem:
        _later(row, f"{problem or type(problem).__name__}")


def wake() -> None:
    """Queue what has waited long enough; send lost messages again; free what a dead worker held."""
    due = Notice.objects.filter(status=Status.WAITING, due_at__lte=Now())
    for row in due.order_by("due_at")[:100]:
        if Notice.objects.filter(pk=row.pk, status=Status.WAITING).update(status=Status.QUEUED, sent_at=Now()):
            row.send()
    Notice.recover()
    Notice.resend()


def _later(row: Notice, why: str) -> None:
    """Put a message back with a pause, or give it up."""
    tries = row.attempts - 1
    held = Notice.objects.filter(pk=row.pk, status=Status.RUNNING)
    if tries >= len(PAUSES):
        held.update(status=Status.FAILED, error=why[:2000], finished_at=Now())
    else:
        held.update(status=Status.WAITING, error=why[:2000], due_at=timezone.now() + PAUSES[tries], leased_until=None)


def _post(row: Notice, hook: Hook) -> None:
    body = json.dumps(row.body, ensure_ascii=False, separators=(",", ":")).encode()
    signed = signing.headers(hook.secret, str(row.pk), int(time.time()), body)
    told = {"Content-Type": "application/json", "User-Agent": "Touchstone", **signed}
    reply = httpx.post(hook.address, content=body, headers=told, timeout=TIMEOUT_S, follow_redirects=False)
    Notice.objects.filter(pk=row.pk).update(answer=reply.status_code)
    if not reply.is_success:
        raise NotTaken(f"The other side answered {reply.status_code}.")


def _mail(row: Notice, hook: Hook) -> None:
    data, event = row.body["data"], row.event
    subject = f"[{row.body['workspace']}] {data.get('title') or _('Near misses wait for a person')}"
    if event == "alarm.ended":
        subject += " " + _("(over)")
    EmailMessage(" ".join(subject.split()), _written(data), settings.DEFAULT_FROM_EMAIL, [hook.address]).send()


def _written(data: dict[str, Any]) -> str:
    parts = [data.get("detail", ""), *(f"{one['title']}: {one['count']}" for one in data.get("reviews", ()))]
    links = [data.get("link", ""), *(one["link"] for one in data.get("reviews", ()))]
    return "\n".join([*filter(None, parts), *filter(None, links)])


def _check(hook: Hook) -> None:
    if hook.kind == Hook.Kind.MAIL:
        if not settings.EMAIL_HOST:
            raise Invalid(_("No mail server is set (EMAIL_HOST), so nobody can be told by e-mail."), field="kind")
        try:
            EmailValidator()(hook.address)
        except ValidationError:
            raise Invalid(_("This is no e-mail address."), field="address") from None
        return
    try:
        parts = urlsplit(hook.address)
        fine = parts.scheme in {"http", "https"} and parts.hostname and (parts.port is None or parts.port)
    except ValueError:
        fine = False
    if not fine or parts.username or not hook.address.isascii() or hook.address.split() != [hook.address]:
        raise Invalid(_("This is no http or https URL."), field="address")
