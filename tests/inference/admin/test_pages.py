"""The console's pages of the inference cache: for each role, and for one workspace only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from apps.access.core.callers import Caller
from apps.inference import services
from apps.inference.models import Job, Network, Stream
from apps.inference.services import running
from tests import desks, factories
from tests.inference import makers

pytestmark = pytest.mark.django_db(transaction=True)
KINDS = ("inference_network", "inference_job", "inference_stream")


def fill(caller: Caller, tmp_path: Path, word: str = "small") -> dict[str, Any]:
    """A model, a finished job over it, and an open stream."""
    network = makers.network(caller, word)
    kept = services.keep_video(caller, f"{word}.mkv", [makers.clip(tmp_path / f"{word}.mkv", 6).read_bytes()])
    job = services.submit(caller, str(network.pk), kept)
    Job.perform(job.pk, running.perform)
    return {
        "inference_network": network,
        "inference_job": job,
        "inference_stream": services.begin(caller, network.name),
    }


@pytest.mark.parametrize("role", [*desks.ROLES, "superuser"])
def test_every_role_reads_every_page_and_only_some_add(role: str, tmp_path: Path) -> None:
    rows = fill(factories.key()[0], tmp_path)
    desk = desks.sit(role)
    for name in KINDS:
        for path in (reverse(f"admin:{name}_changelist"), reverse(f"admin:{name}_change", args=[rows[name].pk])):
            assert (path, desk.get(path).status_code) == (path, 200)
    job = rows["inference_job"].pk
    for path in (
        reverse("admin:inference_job_report", args=[job]),
        reverse("admin:inference_job_reuse", args=[job, 2]),
    ):
        assert (path, desk.get(path).status_code) == (path, 200)
    assert desk.get(reverse("admin:inference_job_reuse", args=[job, 77])).status_code == 404
    assert desk.get(reverse("admin:inference_job_annotated", args=[job])).status_code == 404
    may_run, may_register = role != "viewer", role not in {"viewer", "curator"}
    assert desk.get(reverse("admin:inference_job_add")).status_code == (200 if may_run else 403)
    assert desk.get(reverse("admin:inference_network_add")).status_code == (200 if may_register else 403)
    assert desk.post(reverse("admin:inference_network_change", args=[rows["inference_network"].pk])).status_code == (
        302 if may_register else 403
    )


def test_another_workspace_is_invisible(tmp_path: Path) -> None:
    factories.key()
    rows = fill(factories.key("globex")[0], tmp_path, "secret")
    desk = desks.sit("owner")
    for name in KINDS:
        assert "secret" not in desk.get(reverse(f"admin:{name}_changelist")).content.decode()
        assert desk.get(reverse(f"admin:{name}_change", args=[rows[name].pk])).status_code == 404
        assert desk.post(reverse(f"admin:{name}_change", args=[rows[name].pk])).status_code == 404
    job = rows["inference_job"].pk
    for path in ("report", "annotated"):
        assert desk.get(reverse(f"admin:inference_job_{path}", args=[job])).status_code == 404
    assert desk.get(reverse("admin:inference_job_reuse", args=[job, 0])).status_code == 404


def test_a_video_is_submitted_followed_and_cancelled(tmp_path: Path) -> None:
    network = makers.network(factories.key()[0])
    desk = desks.sit("operator")
    page = desk.get(reverse("admin:inference_job_add") + f"?model={network.pk}").content.decode()
    assert "small (96×64)" in page
    sent = {
        "model": str(network.pk), "mode": "budget", "block": 8, "expiry": 0, "every": 5, "psnr_db": "",
        "file": SimpleUploadedFile("door.mkv", makers.clip(tmp_path / "a.mkv", 4).read_bytes()),
    }  # fmt: skip
    done = desk.post(reverse("admin:inference_job_add"), sent)
    job = Job.objects.get()
    assert done["Location"] == reverse("admin:inference_job_change", args=[job.pk])
    assert (job.title, job.mode, job.block, job.expiry, job.every, job.psnr_db) == ("door.mkv", "budget", 8, 0, 5, None)
    page = desk.get(done["Location"]).content.decode()
    assert 'data-waits="1"' in page and "inference/job.js" in page
    cancelled = desk.post(done["Location"], follow=True)
    assert "Cancelled" in desks.messages(cancelled)
    assert "ended already" in desks.messages(desk.post(done["Location"], follow=True))


def test_a_submission_without_a_video_or_with_a_path_outside_says_so() -> None:
    network = makers.network(factories.key()[0])
    desk = desks.sit("operator")
    about = {"model": str(network.pk), "mode": "exact", "block": 16, "expiry": 300, "every": 30}
    page = desk.post(reverse("admin:inference_job_add"), about).content.decode()
    assert "Choose a video" in page
    outside = desk.post(reverse("admin:inference_job_add"), {**about, "path": "../../secret"})
    assert "inside the media folder" in desks.messages(outside)
    assert not Job.objects.exists()


def test_a_model_is_registered_and_its_page_says_what_can_be_reused() -> None:
    factories.key()
    desk = desks.sit("operator")
    sent = {
        "file": SimpleUploadedFile("net.onnx", makers.classifier()), "name": "door", "task": "classification",
        "mean": "0.5, 0.5, 0.5", "std": "1,1,1", "labels": "a\nb\nc\nd\ne",
    }  # fmt: skip
    page = desk.post(reverse("admin:inference_network_add"), sent, follow=True).content.decode()
    row = Network.objects.get()
    assert (row.labels, row.mean) == (list("abcde"), [0.5] * 3)
    assert "GlobalAveragePool" in page and "Memory per stream" in page and row.analysis["verdict"][:30] in page
    wrong = {**sent, "file": SimpleUploadedFile("net.onnx", b"words"), "name": "other"}
    assert "not ONNX" in desks.messages(desk.post(reverse("admin:inference_network_add"), wrong))
    numbers = {**sent, "file": SimpleUploadedFile("net.onnx", makers.classifier()), "name": "x", "mean": "1,2"}
    assert "mean" in desks.messages(desk.post(reverse("admin:inference_network_add"), numbers))


def test_a_stream_is_closed_by_hand() -> None:
    caller, _ = factories.key()
    makers.network(caller)
    stream = services.begin(caller, "small")
    desks.sit("operator").post(reverse("admin:inference_stream_change", args=[stream.pk]))
    assert Stream.objects.get().status == "closed"


def test_the_first_page_says_what_failed() -> None:
    caller, _ = factories.key()
    Job.objects.create(workspace_id=caller.workspace_id, network=makers.network(caller), file="a", status="failed")
    page = desks.sit("operator").get(reverse("admin:index"))
    assert {task.title: task.count for task in page.context["tasks"]}["Videos that could not be run"] == 1
