"""The real worker: jobs from the queue, killed and taken up again, and streams answered while it works."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from apps.access.core.callers import Caller
from apps.inference import services
from apps.inference.models import Frame, Job, Stream
from apps.inference.services import wire
from tests import factories
from tests.clients import Http, Reply
from tests.conftest import Site, wait_for
from tests.inference import makers

pytestmark = pytest.mark.stack
PATH = "/api/v1/inference/streams/"


def submitted(caller: Caller, path: Path, **plan: Any) -> Job:
    kept = services.keep_video(caller, path.name, [path.read_bytes()])
    return services.submit(caller, "small", kept, **plan)


def ended(job: Job, seconds: float = 120) -> Job:
    def end() -> bool:
        job.refresh_from_db()
        return job.status in {"done", "failed", "cancelled"}

    wait_for(end, seconds)
    return job


def results_of(job: Job) -> list[Any]:
    return [row.result for row in job.rows()]


def test_a_worker_killed_in_mid_job_is_followed_by_one_that_goes_on_with_the_same_results(
    site: Site, tmp_path: Path
) -> None:
    caller, _ = factories.key()
    makers.network(caller)
    path = makers.clip(tmp_path / "long.mkv", 1500)
    site.start_worker("infer")
    job = submitted(caller, path)
    wait_for(lambda: Frame.objects.filter(job=job).count() > 100, 120, lambda: site.log("infer"))
    site.kill("infer")
    stored = Frame.objects.filter(job=job).count()
    job.refresh_from_db()
    assert (job.status, job.done) == ("running", stored)
    assert stored < 1500

    site.start_worker("infer")
    assert ended(job).status == "done", job.error + site.log("infer")
    assert job.attempts == 2
    assert list(job.rows().values_list("number", flat=True)) == list(range(1500))
    whole = ended(submitted(caller, path, every=31))
    assert results_of(job) == results_of(whole)


def posted(secret: str, stream: str, picture: bytes) -> Reply:
    return Http(secret).call("POST", f"{PATH}{stream}/frames/", picture, "image/png")


def refuses_what_is_no_picture(secret: str, stream: str, picture: bytes) -> None:
    for broken, kind, status in (
        (picture[:200], "image/png", 422), (b"", "image/png", 422), (b"words", "image/jpeg", 422),
        (b"x", "text/plain", 415), (b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + b"\x7f\xff" * 8, "image/png", 422),
    ):  # fmt: skip
        reply = Http(secret).call("POST", f"{PATH}{stream}/frames/", broken, kind)
        assert reply.status_code == status, (broken, reply.content)


def test_a_stream_is_answered_in_order_also_while_a_job_runs_and_survives_its_worker(
    site: Site, tmp_path: Path
) -> None:
    caller, secret = factories.key()
    makers.network(caller)
    opened = Http(secret).post(PATH, {"model": "small", "mode": "exact", "every": 2})
    assert opened.status_code == 201, opened.content
    stream = opened.json()["id"]
    pictures = [makers.png(image) for image in makers.pictures(8)]
    assert posted(secret, stream, pictures[0]).status_code == 503  # nobody is there yet

    site.start_worker("infer")
    wait_for(wire.alive, 120, lambda: site.log("infer"))
    job = submitted(caller, makers.clip(tmp_path / "long.mkv", 1500))
    told = [posted(secret, stream, picture) for picture in pictures]
    assert [reply.status_code for reply in told] == [200] * 8, told[0].content
    bodies = [reply.json() for reply in told]
    assert [body["frame"] for body in bodies] == list(range(8))
    assert (bodies[0]["outcome"], bodies[1]["outcome"], bodies[2]["outcome"]) == ("dense", "reused", "reused")
    assert len(bodies[0]["result"]["top"]) == 5 and bodies[0]["agreement"] == 1.0

    large = posted(secret, stream, makers.png(next(makers.pictures(1, width=96, height=64)))).json()
    assert (large["outcome"], large["reason"]) == ("dense", "size changed")
    assert ended(job).status == "done"

    site.kill("infer")
    site.start_worker("infer")
    before = Stream.objects.get(pk=stream).worker
    wait_for(lambda: wire.alive() and wire.alive() != [before], 60, lambda: site.log("infer"))
    again = wait_for(lambda: reply if (reply := posted(secret, stream, pictures[0])).status_code == 200 else None, 60)
    assert (again.json()["frame"], again.json()["outcome"]) == (9, "dense")
    assert Stream.objects.get(pk=stream).worker != before

    refuses_what_is_no_picture(secret, stream, pictures[0])
    body, kind = makers.form(pictures[1], "a.png")
    assert Http(secret).call("POST", f"{PATH}{stream}/frames/", body, kind).json()["frame"] == 10
    assert Http(secret).get(f"{PATH}{stream}/").json()["frames"] == 11
    assert Http(secret).delete(f"{PATH}{stream}/").status_code == 204
    closed = posted(secret, stream, pictures[0])
    assert (closed.status_code, "closed" in json.loads(closed.content)["detail"]) == (409, True)
