"""From an upload to a plan: cut, served, watched, predicted, planned."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from apps.segments.models import Edge, Moment, Plan, Segment, Video
from apps.segments.services import clockwork, videos
from tests import factories
from tests.clients import Http
from tests.segments import makers

pytestmark = pytest.mark.django_db
BASE = "/api/v1/segments/"
CAPTIONS = """WEBVTT

00:00.000 --> 00:06.000
Gradient descent follows the negative gradient of the loss

00:06.000 --> 00:18.000
and momentum remembers earlier gradients
"""


@pytest.fixture
def media(tmp_path: Path, settings: Any) -> Path:
    """Keep uploads in a folder of the test's own."""
    settings.MEDIA_ROOT = tmp_path / "media"
    return tmp_path


def form(path: Path, **fields: str) -> tuple[bytes, str]:
    """Write a multipart form with a file."""
    head = '--b\r\nContent-Disposition: form-data; name="{}"\r\n\r\n{}\r\n'
    file = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.mp4"\r\nContent-Type: video/mp4\r\n\r\n'
    body = "".join(head.format(*field) for field in fields.items()).encode() + file.encode() + path.read_bytes()
    return body + b"\r\n--b--\r\n", "multipart/form-data; boundary=b"


def uploaded(http: Http, media: Path) -> tuple[Video, list[Any]]:
    """Upload a lecture and cut it; it and its segments as the API tells them."""
    outline = '[{"title": "Gradients", "start": 0, "end": 6}]'
    body, kind = form(makers.clip(media / "a.mp4"), title="Descent", captions=CAPTIONS, outline=outline)
    reply = http.post(f"{BASE}videos/", body, kind)
    assert reply.status_code == 202, reply.content
    assert Video.perform(reply.json()["id"], videos.perform)
    row = Video.objects.get(pk=reply.json()["id"])
    return row, http.get(f"{BASE}videos/{row.pk}/segments/").json()["results"]


def test_a_lecture_is_cut_served_and_described(media: Path) -> None:
    http = Http(factories.key()[1])
    row, listed = uploaded(http, media)
    told = http.get(f"{BASE}videos/{row.pk}/").json()
    assert (told["status"], told["progress"]["done"]) == ("done", 1.0)
    assert told["duration_s"] == pytest.approx(20, abs=0.5)
    assert [part["index"] for part in listed] == list(range(len(listed))) and Segment.objects.count() == len(listed)
    for name in (told["manifest_url"], listed[0]["url"]):
        served = Http().get(name)
        assert served.status_code == 200
    assert len(served.content) == listed[0]["bytes"]
    assert Http().get(listed[0]["url"].replace("0.m4s", "../../../secret")).status_code == 404
    moments = list(Moment.objects.order_by("index"))
    assert (moments[0].point, moments[1].point) == ("Gradients", "")
    assert "negative gradient" in moments[0].text
    assert moments[0].density > 0.5
    similar = http.get(f"{BASE}videos/{row.pk}/similar/?index=1").json()
    assert {part["index"] for part in similar} == set(range(len(listed))) - {1}


def test_a_watched_lecture_is_predicted_and_planned_for(media: Path) -> None:
    caller, secret = factories.key()
    http = Http(secret)
    row, listed = uploaded(http, media)
    events = [makers.event(row, "play", 0.0, ago_s=7), makers.event(row, "heartbeat", 5.0, ago_s=1)]
    assert http.post(f"{BASE}views/", events).json() == {"accepted": 2, "errors": []}
    expected = http.post(f"{BASE}predict/", {"viewer": "ann", "video": str(row.pk), "position_s": 5.0}).json()
    assert (expected["model"], [part["index"] for part in expected["segments"]]) == ("retention", [1, 2, 3])
    assert all(0 < part["probability"] <= 1 for part in expected["segments"])

    edge = http.post(f"{BASE}edges/", {"name": "north", "capacity_bytes": 10**8}).json()["id"]
    report = {"occupied_bytes": 0, "capacity_bytes": 10**8, "load": 0.2, "retransmission": 0.0, "turnover_s": 900}
    assert http.post(f"{BASE}edges/{edge}/report/", report).status_code == 200
    assert clockwork.plan_due() == 1
    plan = http.get(f"{BASE}edges/{edge}/plan/").json()
    assert plan["shadow"] is True
    wanted = {line["url"]: line["reason"] for line in plan["prewarm"]}
    assert "will be there in about 6 s" in wanted[listed[1]["url"]]
    assert set(plan) == {"id", "prewarm", "evict", "pin", "budget_bytes", "limit_bps", "shadow"}
    assert http.get(f"{BASE}edges/{edge}/plan/?after={plan['id']}").status_code == 204
    done = http.post(f"{BASE}edges/{edge}/plan/{plan['id']}/result/", {"status": "shadow", "prewarmed": 0})
    assert done.status_code == 200
    assert Plan.objects.get(pk=plan["id"]).result == {"status": "shadow", "prewarmed": 0}
    assert caller.workspace_id == Edge.objects.get().workspace_id
