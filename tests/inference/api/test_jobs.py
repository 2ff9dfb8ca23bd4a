"""Jobs over the API, exactly as the contract writes them; the worker's part is run in this process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from apps.inference.models import Job, Network
from apps.inference.services import jobs, running
from tests import factories
from tests.clients import Http
from tests.inference import makers

pytestmark = pytest.mark.django_db(transaction=True)
PATH = "/api/v1/inference/jobs/"
STATS = {
    "frames", "reused", "partial", "dense", "work_share", "p50_ms", "p95_ms", "plain_p50_ms", "speedup", "agreement",
    "bail_outs",
}  # fmt: skip


@pytest.fixture
def secret() -> str:
    return factories.key()[1]


@pytest.fixture
def network(secret: str) -> Network:
    return makers.network(factories.key()[0])


@pytest.fixture
def media(settings: Any, tmp_path: Path) -> Path:
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.MEDIA_ROOT.mkdir()
    return tmp_path / "media"


def ran(secret: str, network: Network, path: Path, **fields: Any) -> Any:
    body, kind = makers.form(path.read_bytes(), "clip.mkv", model=network.pk, **fields)
    reply = Http(secret).call("POST", PATH, body, kind)
    assert reply.status_code == 202, reply.content
    Job.perform(reply.json()["id"], running.perform)
    return reply.json()


def test_an_upload_is_queued_run_and_read_in_every_form(secret: str, network: Network, tmp_path: Path) -> None:
    told = ran(secret, network, makers.clip(tmp_path / "a.mkv", 9), mode="exact", every=3, motion="false")
    assert (told["status"], told["progress"]) == ("queued", {"done": 0, "total": None})
    path = f"{PATH}{told['id']}/"
    job = Http(secret).get(path).json()
    assert (job["status"], job["error"], job["progress"]) == ("done", "", {"done": 9, "total": 9})
    assert set(job["stats"]) == STATS
    assert (job["mode"], job["every"], job["motion"], job["title"]) == ("exact", 3, False, "clip.mkv")

    page = Http(secret).get(f"{path}frames/?page_size=4").json()
    assert [row["frame"] for row in page["results"]] == [0, 1, 2, 3] and page["next"]
    assert {row["outcome"] for row in page["results"]} <= {"reused", "partial", "dense"}
    following = Http(secret).get(page["next"].removeprefix("http://testserver")).json()
    assert [row["frame"] for row in following["results"]] == [4, 5, 6, 7]

    lines = Http(secret).get(f"{path}results.jsonl")
    assert [json.loads(line)["frame"] for line in lines.content.splitlines()] == list(range(9))
    assert lines.headers["Content-Type"].startswith("application/x-ndjson")
    assert len(Http(secret).get(f"{path}results.csv").content.splitlines()) == 10
    picture = Http(secret).get(f"{path}reuse/4.png")
    assert (picture.headers["Content-Type"], picture.content[:4]) == ("image/png", b"\x89PNG")
    report = Http(secret).get(f"{path}report/")
    assert report.headers["Content-Type"].startswith("text/html") and b"Speed-up" in report.content
    for missing in ("reuse/9.png", "reuse/99999999999999999999.png", "annotated.mp4"):
        assert Http(secret).get(path + missing).status_code == 404, missing


def test_detection_has_an_annotated_video_that_is_served_in_ranges(secret: str, tmp_path: Path) -> None:
    network = makers.network(factories.key()[0], "bright", task="detection")
    told = ran(secret, network, makers.clip(tmp_path / "a.mkv", 4))
    path = f"{PATH}{told['id']}/annotated.mp4"
    whole = Http(secret).get(path)
    assert (whole.status_code, whole.headers["Content-Type"]) == (200, "video/mp4")
    part = Http(secret).call("GET", path, headers={"Range": "bytes=4-11"})
    assert (part.status_code, part.content) == (206, whole.content[4:12])
    assert part.headers["Content-Range"] == f"bytes 4-11/{len(whole.content)}"
    tail = Http(secret).call("GET", path, headers={"Range": "bytes=-5"})
    assert tail.content == whole.content[-5:]
    assert Http(secret).call("GET", path, headers={"Range": "bytes=9-4"}).content == whole.content


def test_a_job_before_its_first_frame_has_all_statistics(secret: str, network: Network, tmp_path: Path) -> None:
    body, kind = makers.form(makers.clip(tmp_path / "a.mkv", 3).read_bytes(), model=network.name)
    job = Http(secret).call("POST", PATH, body, kind).json()
    assert set(job["stats"]) == STATS and job["stats"]["frames"] == 0
    assert Http(secret).get(f"{PATH}{job['id']}/report/").status_code == 200
    cancelled = Http(secret).post(f"{PATH}{job['id']}/cancel/")
    assert (cancelled.status_code, cancelled.json()["status"]) == (200, "cancelled")
    assert Http(secret).post(f"{PATH}{job['id']}/cancel/").status_code == 409


def test_a_video_in_the_media_folder_is_named_by_its_path(secret: str, media: Path) -> None:
    network = makers.network(factories.key()[0])
    (media / "cameras").mkdir()
    makers.clip(media / "cameras" / "door.mkv", 5)
    reply = Http(secret).post(PATH, {"path": "cameras/door.mkv", "model": str(network.pk), "mode": "budget"})
    assert reply.status_code == 202
    Job.perform(reply.json()["id"], running.perform)
    assert Http(secret).get(f"{PATH}{reply.json()['id']}/").json()["progress"] == {"done": 5, "total": 5}


def test_paths_never_leave_the_media_folder_nor_reach_what_others_uploaded(secret: str, media: Path) -> None:
    caller, _ = factories.key()
    network = makers.network(caller)
    makers.clip(media.parent / "outside.mkv", 1)
    (media / "link.mkv").symlink_to(media.parent / "outside.mkv")
    (media / "folder").mkdir()
    (media / ".hidden").write_bytes(b"x")
    for path in (
        "../outside.mkv", str(media.parent / "outside.mkv"), "link.mkv", "folder", "", " ", ".", "/", "missing.mkv",
        "/etc/passwd", "folder/../../outside.mkv", ".hidden", network.file, f"./{network.file}", "a" * 5000, "..",
        f"folder/../{network.file}",
    ):  # fmt: skip
        reply = Http(secret).post(PATH, {"path": path, "model": network.name})
        assert (path, reply.status_code) == (path, 422)
        assert not Job.objects.exists()
    assert Http(secret).post(PATH, {"path": "a\0b", "model": network.name}).status_code == 422


def test_a_path_that_became_a_link_to_elsewhere_is_not_followed_by_the_worker(secret: str, media: Path) -> None:
    network = makers.network(factories.key()[0])
    makers.clip(media / "a.mkv", 2)
    makers.clip(media.parent / "outside.mkv", 2)
    job = Http(secret).post(PATH, {"path": "a.mkv", "model": network.name}).json()
    (media / "a.mkv").unlink()
    (media / "a.mkv").symlink_to(media.parent / "outside.mkv")
    Job.perform(job["id"], running.perform)
    told = Http(secret).get(f"{PATH}{job['id']}/").json()
    assert (told["status"], told["error"]) == ("failed", "The path must stay inside the media folder.")


@pytest.mark.parametrize(
    ("field", "value"),
    [("mode", "fast"), ("block", 3), ("block", 1000), ("psnr_db", "nan"), ("psnr_db", 5), ("eps", -1), ("eps", "inf"),
     ("expiry", -1), ("every", 10**9), ("model", "nobody"), ("model", ""), ("motion", "perhaps"), ("path", None)],
)  # fmt: skip
def test_settings_that_make_no_sense_are_refused_by_field(field: str, value: Any, media: Path) -> None:
    caller, secret = factories.key()
    makers.clip(media / "a.mkv", 1)
    Network.objects.create(workspace_id=caller.workspace_id, name="small", status="done", mean=[0] * 3, std=[1] * 3)
    reply = Http(secret).post(PATH, {"path": "a.mkv", "model": "small", field: value})
    assert reply.status_code == 422, reply.content
    assert reply.json()["errors"][0]["field"] == field


def test_a_job_takes_a_file_or_a_path_and_not_both(secret: str, network: Network) -> None:
    assert Http(secret).post(PATH, {"model": network.name}).status_code == 422
    body, kind = makers.form(b"x", model=network.name, path="a.mkv")
    assert Http(secret).call("POST", PATH, body, kind).status_code == 422
    body, kind = makers.form(b"", model=network.name)
    assert Http(secret).call("POST", PATH, body, kind).status_code == 422
    reply = Http(secret).post(PATH, {"model": network.name, "file": "a.mkv"})
    assert (reply.status_code, reply.json()["errors"][0]["field"]) == (422, "file")
    assert Http(secret).post(PATH, b"{", "application/json").status_code == 400
    assert Http(secret).post(PATH, b"x", "text/plain").status_code == 415


def test_a_file_that_is_too_large_is_413_and_is_not_kept(settings: Any, network: Network, secret: str) -> None:
    settings.INFERENCE = {**settings.INFERENCE, "VIDEO_BYTES": 1000}
    body, kind = makers.form(b"x" * 1001, model=network.name)
    assert Http(secret).call("POST", PATH, body, kind).status_code == 413
    assert not Job.objects.exists()


def test_a_repeat_with_the_same_key_makes_one_job(secret: str, network: Network, tmp_path: Path) -> None:
    body, kind = makers.form(makers.clip(tmp_path / "a.mkv", 2).read_bytes(), model=network.name)
    replies = [Http(secret).call("POST", PATH, body, kind, {"Idempotency-Key": "k"}) for _ in range(2)]
    assert replies[0].json() == replies[1].json()
    assert Job.objects.count() == 1
    other, kind = makers.form(b"another", model=network.name)
    assert Http(secret).call("POST", PATH, other, kind, {"Idempotency-Key": "k"}).status_code == 409


def test_the_same_video_again_is_stored(secret: str, network: Network, tmp_path: Path) -> None:
    path = makers.clip(tmp_path / "a.mkv", 6)
    first = ran(secret, network, path)
    again = ran(secret, network, path)
    assert (again["status"], again["outcome"]) == ("done", "stored")
    assert again["stats"] == Http(secret).get(f"{PATH}{first['id']}/").json()["stats"]
    lines = [Http(secret).get(f"{PATH}{each['id']}/results.jsonl").content for each in (first, again)]
    assert lines[0] == lines[1]


def test_another_workspace_finds_nothing(secret: str, network: Network, tmp_path: Path) -> None:
    job = ran(secret, network, makers.clip(tmp_path / "a.mkv", 3))
    _, other = factories.key("other")
    for part in ("", "frames/", "results.jsonl", "results.csv", "reuse/0.png", "report/", "annotated.mp4"):
        assert Http(other).get(f"{PATH}{job['id']}/{part}").status_code == 404, part
    assert Http(other).post(f"{PATH}{job['id']}/cancel/").status_code == 404
    assert Http(other).get(PATH).json()["results"] == []
    reply = Http(other).post(PATH, {"path": "a.mkv", "model": str(network.pk)})
    assert (reply.status_code, reply.json()["errors"][0]["field"]) == (422, "model")
    assert Http("").get(f"{PATH}{job['id']}/").status_code == 401


def test_a_job_waits_for_a_model_that_is_being_prepared(media: Path, secret: str, network: Network) -> None:
    makers.clip(media / "a.mkv", 3)
    Network.objects.filter(pk=network.pk).update(status="queued")
    job = Http(secret).post(PATH, {"path": "a.mkv", "model": network.name}).json()
    assert (job["status"], jobs.release(), Job.perform(job["id"], running.perform)) == ("waiting", 0, False)
    Network.objects.filter(pk=network.pk).update(status="done")
    assert jobs.release() == 1
    assert Http(secret).get(f"{PATH}{job['id']}/").json()["status"] == "queued"
    assert (jobs.release(), Job.perform(job["id"], running.perform)) == (0, True)


def test_a_job_fails_with_its_model_and_a_waiting_one_can_be_cancelled(media: Path, network: Network) -> None:
    secret = factories.key()[1]
    makers.clip(media / "a.mkv", 3)
    Network.objects.filter(pk=network.pk).update(status="running")
    one, two = (Http(secret).post(PATH, {"path": "a.mkv", "model": network.name}).json()["id"] for _ in range(2))
    assert Http(secret).post(f"{PATH}{two}/cancel/").json()["status"] == "cancelled"
    Network.objects.filter(pk=network.pk).update(status="failed", error="The weights are missing.")
    assert jobs.release() == 1
    told = Http(secret).get(f"{PATH}{one}/").json()
    assert (told["status"], told["error"]) == ("failed", "The model could not be prepared.")
    reply = Http(secret).post(PATH, {"path": "a.mkv", "model": network.name})
    assert reply.status_code == 422 and "weights" in reply.json()["detail"]
