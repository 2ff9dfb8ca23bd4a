"""Jobs, run in this process: results, repeats, cancelling, resuming, and files that are no videos."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.conf import settings

from apps.access import services as access
from apps.access.core.callers import Caller
from apps.inference import services
from apps.inference.core import drawing
from apps.inference.models import Frame, Job, Network
from apps.inference.services import results, running
from tests import factories
from tests.inference import makers

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def caller() -> Caller:
    return factories.key()[0]


@pytest.fixture
def network(caller: Caller) -> Network:
    return makers.network(caller)


def uploaded(caller: Caller, path: Path) -> services.Video:
    return services.keep_video(caller, path.name, [path.read_bytes()])


def submitted(caller: Caller, network: Network, path: Path, **plan: Any) -> Job:
    return services.submit(caller, str(network.pk), uploaded(caller, path), **plan)


def performed(job: Job) -> Job:
    Job.perform(job.pk, running.perform)
    job.refresh_from_db()
    return job


def in_batches(monkeypatch: pytest.MonkeyPatch, frames: int) -> None:
    """Store so many frames at a time, however slow the machine is."""
    monkeypatch.setattr(running, "BATCH", frames)
    monkeypatch.setattr(running, "FLUSH_S", 1e9)


def test_every_frame_has_a_result_and_the_statistics_add_up(caller: Caller, network: Network, tmp_path: Path) -> None:
    job = performed(submitted(caller, network, makers.clip(tmp_path / "a.mkv", 24), every=5))
    assert (job.status, job.error, job.progress) == ("done", "", {"done": 24, "total": 24})
    stats = job.stats
    assert stats["frames"] == 24 == stats["reused"] + stats["partial"] + stats["dense"]
    assert stats["reused"] >= 6  # the square comes back to where it stood
    assert stats["agreement"] == 1.0
    assert stats["plain_p50_ms"] > 0
    assert list(job.rows().values_list("number", flat=True)) == list(range(24))
    top = job.rows()[0].result["top"]
    assert len(top) == 5 and {each["label"] for each in top} == set("abcde")


def test_the_same_video_model_and_settings_are_served_from_stored_results(
    caller: Caller, network: Network, tmp_path: Path
) -> None:
    path = makers.clip(tmp_path / "a.mkv", 9)
    first = performed(submitted(caller, network, path))
    again = submitted(caller, network, path)
    assert (again.status, again.stored, again.stats) == ("done", True, first.stats)
    assert [row.result for row in again.rows()] == [row.result for row in first.rows()]
    assert not submitted(caller, network, path, block=32).stored
    assert not submitted(caller, network, path, mode="budget").stored


def test_a_path_finds_stored_results_in_the_worker(caller: Caller, network: Network, tmp_path: Path) -> None:
    path = makers.clip(tmp_path / "a.mkv", 6)
    performed(submitted(caller, network, path))
    (settings.MEDIA_ROOT / "cameras").mkdir(parents=True, exist_ok=True)
    (settings.MEDIA_ROOT / "cameras" / "a.mkv").write_bytes(path.read_bytes())
    job = performed(services.submit(caller, network.name, services.named_video("cameras/a.mkv")))
    assert (job.status, job.stored) == ("done", True)


def test_a_job_that_was_interrupted_goes_on_from_its_last_stored_frame_with_the_same_results(
    caller: Caller, network: Network, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = makers.clip(tmp_path / "a.mkv", 20)
    whole = performed(submitted(caller, network, path))
    whole.rows().delete()  # so that the next job is not served from it
    expected = performed(submitted(caller, network, path, every=29))
    results_of = {row.number: row.result for row in expected.rows()}
    Job.objects.filter(pk=expected.pk).update(every=28)

    job = submitted(caller, network, path, every=29)
    in_batches(monkeypatch, 4)
    flushes = iter(range(100))
    flush = running.Recording.flush

    def dies(self: running.Recording, rung: int | None) -> None:
        if next(flushes) == 2:
            self.waiting.clear()
            raise SystemExit  # as a killed worker: nothing closes the row
        flush(self, rung)

    monkeypatch.setattr(running.Recording, "flush", dies)
    with pytest.raises(SystemExit):
        Job.perform(job.pk, running.perform)
    monkeypatch.setattr(running.Recording, "flush", flush)
    job.refresh_from_db()
    assert (job.status, job.done) == ("running", 8)
    assert job.rows().count() == 8

    Job.objects.filter(pk=job.pk).update(leased_until="2020-01-01T00:00:00Z")
    assert Job.recover() == 1
    assert performed(job).status == "done"
    assert {row.number: row.result for row in job.rows()} == results_of


def test_a_running_job_stops_between_frames_when_it_is_cancelled(
    caller: Caller, network: Network, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = submitted(caller, network, makers.clip(tmp_path / "a.mkv", 40))
    in_batches(monkeypatch, 5)
    take = running.Recording._take

    def cancelled(self: running.Recording, *args: Any) -> None:
        take(self, *args)
        if self.at == 12:
            services.cancel(caller, Job.objects.get(pk=job.pk))

    monkeypatch.setattr(running.Recording, "_take", cancelled)
    job = performed(job)
    assert (job.status, job.done) == ("cancelled", 10)
    assert job.rows().count() == 10
    with pytest.raises(access.Conflict):
        services.cancel(caller, job)


def test_a_job_cancelled_before_it_runs_never_runs(caller: Caller, network: Network, tmp_path: Path) -> None:
    job = submitted(caller, network, makers.clip(tmp_path / "a.mkv", 6))
    services.cancel(caller, job)
    assert performed(job).status == "cancelled"
    assert job.rows().count() == 0


def broken(tmp_path: Path) -> dict[str, bytes]:
    good = makers.clip(tmp_path / "good.mkv", 60).read_bytes()
    return {
        "words": b"this is no video" * 100,
        "cut": good[: len(good) // 2],
        "sound": makers.sound(tmp_path / "s.wav").read_bytes(),
        "no frames": makers.clip(tmp_path / "none.mkv", 0).read_bytes(),
        "renamed": makers.png(next(makers.pictures(1)))[:2000],
        "huge": makers.clip(tmp_path / "huge.mkv", 1, width=8200, height=16).read_bytes(),
    }


def test_files_that_are_no_videos_fail_their_job_with_a_reason_and_leave_the_worker_alone(
    caller: Caller, network: Network, tmp_path: Path
) -> None:
    for name, data in broken(tmp_path).items():
        (tmp_path / "file").write_bytes(data)
        job = performed(submitted(caller, network, tmp_path / "file"))
        assert (name, job.status) == (name, "failed")
        assert job.error and "Traceback" not in job.error and "Error:" not in job.error, (name, job.error)
    assert performed(submitted(caller, network, makers.clip(tmp_path / "ok.mkv", 4))).status == "done"


def test_two_jobs_on_one_network_do_not_disturb_each_other(caller: Caller, network: Network, tmp_path: Path) -> None:
    paths = [makers.clip(tmp_path / f"{seed}.mkv", 8, seed=seed) for seed in (1, 2)]
    alone = [performed(submitted(caller, network, path)) for path in paths]
    Job.objects.update(every=31)
    both = [submitted(caller, network, path) for path in paths]
    for job, before in zip([performed(job) for job in both], alone, strict=True):
        assert [row.result for row in job.rows()] == [row.result for row in before.rows()]


def test_budget_mode_measures_its_agreement(caller: Caller, network: Network, tmp_path: Path) -> None:
    job = performed(submitted(caller, network, makers.clip(tmp_path / "a.mkv", 30), mode="budget"))
    assert job.status == "done"
    assert job.stats["agreement"] is not None
    assert job.rung is not None


def test_detection_gives_boxes_in_the_videos_own_pixels_and_an_annotated_video(caller: Caller, tmp_path: Path) -> None:
    network = makers.network(caller, "bright", task="detection")
    job = performed(submitted(caller, network, makers.clip(tmp_path / "a.mkv", 6)))
    assert (job.status, job.error) == ("done", "")
    (box,) = job.rows()[0].result["boxes"]
    assert box["label"] == "bright"
    x0, y0, x1, y1 = box["box"]
    assert abs((x0 + x1) / 2 - 12) < 6 and abs((y0 + y1) / 2 - 52) < 6  # the square's middle at frame 0
    data = results.annotated(job).read_bytes()
    assert data[4:8] == b"ftyp"


def test_lines_tables_maps_and_report_tell_the_same_frames(caller: Caller, network: Network, tmp_path: Path) -> None:
    job = performed(submitted(caller, network, makers.clip(tmp_path / "a.mkv", 9), every=3))
    lines = [json.loads(text) for text in "".join(results.json_lines(job)).splitlines()]
    assert [each["frame"] for each in lines] == list(range(9))
    table = "".join(results.table(job)).splitlines()
    assert table[0].startswith("frame,outcome,") and len(table) == 10
    assert results.reuse_map(job, 3).startswith(b"\x89PNG")
    with pytest.raises(access.Missing):
        results.reuse_map(job, 9)
    page = results.report(job)
    assert "<svg" in page and "http://" not in page and "src='http" not in page


def test_a_reuse_map_shows_what_was_recomputed() -> None:
    import cv2

    grid = np.zeros((4, 6), dtype=np.uint8)
    grid[1, 2] = 127
    shown = cv2.imdecode(np.frombuffer(drawing.reuse_map(grid, None, (96, 64)), np.uint8), cv2.IMREAD_COLOR)
    assert shown is not None
    cell = shown.shape[0] // 4
    assert shown[cell + cell // 2, 2 * cell + cell // 2].mean() > 2 * shown[cell // 2, cell // 2].mean()


def test_frames_beyond_the_kept_pictures_still_have_maps(
    caller: Caller, network: Network, tmp_path: Path, settings: Any
) -> None:
    settings.INFERENCE = {**settings.INFERENCE, "PICTURES": 2}
    job = performed(submitted(caller, network, makers.clip(tmp_path / "a.mkv", 4)))
    assert Frame.objects.filter(job=job, picture=None).count() == 2
    assert results.reuse_map(job, 3).startswith(b"\x89PNG")
