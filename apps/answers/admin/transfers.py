"""Import golden answers in two steps, a dry run and its confirmation; export them."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, StreamingHttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from unfold.widgets import UnfoldAdminFileFieldWidget, UnfoldBooleanSwitchWidget

from apps.access import services as access
from apps.access.admin.desk import OWNER, caller_of, demand, explain, may
from apps.access.core.callers import Caller
from apps.answers.services import transfer

KEPT_S = 3_600
TYPES = {"csv": "text/csv; charset=utf-8", "jsonl": "application/x-ndjson"}


class UploadForm(forms.Form):
    """A file, and whether its rows are published at once."""

    file = forms.FileField(
        label=lazy("File"),
        widget=UnfoldAdminFileFieldWidget,
        help_text=lazy("CSV with a header, or JSON lines, in UTF-8; an export of this page is such a file."),
    )
    publish = forms.BooleanField(
        label=lazy("Publish at once"),
        required=False,
        widget=UnfoldBooleanSwitchWidget,
        help_text=lazy("For owners: rows skip the review."),
    )

    def clean_file(self) -> UploadedFile[Any]:
        """Refuse what is larger than this door takes."""
        file: UploadedFile[Any] = self.cleaned_data["file"]
        if (file.size or 0) > settings.DATA_UPLOAD_MAX_MEMORY_SIZE:
            raise forms.ValidationError(_("The file is larger than 64 MB; import it in parts."))
        return file


def bring_in(desk: Any, request: HttpRequest) -> HttpResponse:
    """Show the upload, its dry run, or do the import that was confirmed."""
    demand(request, "curator")
    if "confirm" in request.POST:
        return _confirmed(desk, request)
    form = UploadForm(request.POST, request.FILES) if request.method == "POST" else UploadForm()
    if not may(request, OWNER):
        del form.fields["publish"]
    report = None
    if request.method == "POST" and form.is_valid():
        kept = _keep(request, form.cleaned_data["file"], bool(form.cleaned_data.get("publish")))
        report = _run(request, kept, dry_run=True)
    return _shown(desk, request, form, report)


def _confirmed(desk: Any, request: HttpRequest) -> HttpResponse:
    kept = request.session.get("import")
    if not isinstance(kept, dict) or not _still_there(request, kept):
        messages.error(request, _("This dry run is over; upload the file again."))
        return HttpResponseRedirect(reverse("admin:answers_goldenanswer_import"))
    report = _run(request, kept, dry_run=False)
    if report is None or report.faults:
        return _shown(desk, request, UploadForm(), report)
    _path(kept).unlink(missing_ok=True)
    del request.session["import"]
    counts = {"new": report.created, "changed": report.updated, "same": report.unchanged}
    messages.success(request, _("Imported: %(new)d new, %(changed)d changed, %(same)d as they were.") % counts)
    return HttpResponseRedirect(reverse("admin:answers_goldenanswer_changelist"))


def _still_there(request: HttpRequest, kept: dict[str, Any]) -> bool:
    """Say whether what is confirmed is what was tried: the same file, in the workspace it was tried in."""
    mine = kept.get("workspace") == str(caller_of(request).workspace_id)
    return mine and kept.get("id") == request.POST["confirm"] and _path(kept).exists()


def _shown(desk: Any, request: HttpRequest, form: UploadForm, report: transfer.Report | None) -> HttpResponse:
    kept = request.session.get("import") if report is not None else None
    page: HttpResponse = desk.page(
        request, "answers/import.html", _("Import golden answers"), form=form, report=report, kept=kept
    )
    return page


def _run(request: HttpRequest, kept: dict[str, Any], *, dry_run: bool) -> transfer.Report | None:
    """Import the kept file; a file that cannot be read at all is told."""
    try:
        with _path(kept).open("rb") as stream:
            read = transfer.read_jsonl if kept["kind"] == "jsonl" else transfer.read_csv
            return transfer.import_rows(caller_of(request), read(stream), dry_run=dry_run, publish=kept["publish"])
    except access.ProblemError as problem:
        messages.error(request, explain(problem))
        return None


def _keep(request: HttpRequest, file: UploadedFile[Any], publish: bool) -> dict[str, Any]:
    """Keep an upload on disk until it is confirmed, an hour at most."""
    folder = _folder()
    for old in folder.iterdir():
        if old.stat().st_mtime < time.time() - KEPT_S:
            old.unlink(missing_ok=True)
    name = str(file.name or "")
    kept = {
        "id": uuid.uuid4().hex,
        "name": name,
        "publish": publish,
        "kind": _kind(name, file),
        "workspace": str(caller_of(request).workspace_id),
    }
    with _path(kept).open("wb") as out:
        out.writelines(file.chunks())
    request.session["import"] = kept
    return kept


def _kind(name: str, file: UploadedFile[Any]) -> str:
    if name.lower().endswith((".jsonl", ".ndjson", ".json")):
        return "jsonl"
    first = file.read(64).lstrip(b"\xef\xbb\xbf \r\n")
    file.seek(0)
    return "jsonl" if first.startswith(b"{") and not name.lower().endswith(".csv") else "csv"


def _folder() -> Path:
    folder: Path = settings.VAR / "imports"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def _path(kept: dict[str, Any]) -> Path:
    return _folder() / str(kept["id"])


def carry_out(request: HttpRequest) -> HttpResponse:
    """Stream an export of the workspace, or of one namespace or status of it."""
    caller = demand(request, "curator")
    kind = request.GET.get("format", "csv")
    if kind not in TYPES:
        kind = "csv"
    response = StreamingHttpResponse(_parts(caller, kind, request), content_type=TYPES[kind])
    day = timezone.now().strftime("%Y-%m-%d")
    response["Content-Disposition"] = f'attachment; filename="golden-{day}.{kind}"'
    return response  # type: ignore[return-value]


def _parts(caller: Caller, kind: str, request: HttpRequest) -> Iterator[str]:
    asked = {"namespace": request.GET.get("namespace") or None, "status": request.GET.get("status") or None}
    return transfer.export(caller, kind, **asked)
