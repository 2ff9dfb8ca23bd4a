"""What the dashboard and the first page are told, and what the web process never loads."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from apps.access.core.prices import Prices
from apps.inference import services
from apps.inference.models import Job, Network
from apps.inference.services import preparing, reporting, running
from apps.metrics import services as metrics
from apps.metrics.services import buckets, counting, standing
from tests import factories
from tests.inference import makers

pytestmark = pytest.mark.django_db(transaction=True)
ROOT = Path(__file__).resolve().parents[3]


def module() -> Any:
    """A torch module for the command below."""
    import torch

    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Conv2d(3, 4, 3, padding=1), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten()
    )


def test_outcomes_speed_and_agreement_are_in_the_snapshot(valkey: Any, tmp_path: Path) -> None:
    from apps.access import services as access

    access.valkey().flushdb()
    counting._counts.take()
    caller, _ = factories.key()
    network = makers.network(caller)
    data = makers.clip(tmp_path / "a.mkv", 6).read_bytes()
    for _ in range(2):
        job = services.submit(caller, network.name, services.keep_video(caller, "a", [data]), every=2)
        Job.perform(job.pk, running.perform)
    metrics.flush()
    buckets.forget()
    standing.forget()
    told = metrics.snapshot(caller.workspace_id)["inference"]
    assert sum(told["outcomes"][name] for name in ("reused", "partial", "dense")) == 6
    assert told["outcomes"]["stored"] == 1
    assert told["counts"]["stored_frames"] == 6
    assert told["agreement"] == 1.0 and told["speedup"] > 0
    assert (told["jobs"], told["streams"]) == ({"queued": 0, "running": 0}, 0)


def test_low_agreement_and_failed_models_raise_alarms() -> None:
    caller, _ = factories.key()
    network = makers.network(caller)
    about = {"workspace_id": caller.workspace_id, "network": network, "file": "a", "mode": "budget"}
    Job.objects.create(**about, title="door.mp4", stats={"agreement": 0.9, "frames": 10})
    Job.objects.create(**about, title="yard.mp4", stats={"agreement": 0.99, "frames": 10})
    Network.objects.filter(pk=network.pk).update(status="failed", error="no weights")
    titles = [alarm["title"] for alarm in reporting.alarms(caller.workspace_id)]
    assert titles == ["Models could not be prepared", "Agreement is low in door.mp4"]


def test_savings_are_frames_and_processor_time() -> None:
    saved = reporting.savings(Counter(reused=3, stored_frames=7, saved_ms=7_200_000), Prices(cpu_hour=0.5))
    assert {each.unit: each.amount for each in saved} == {"money": 1.0, "frames": 10, "cpu_seconds": 7_200.0}


def test_speed_ups_are_averaged_by_time_and_agreement_by_frames() -> None:
    rows = [{"frames": 100, "speedup": 1.0, "agreement": 1.0}, {"frames": 100, "speedup": 3.0, "agreement": 0.9}, {}]
    assert reporting.weighted(rows, "speedup") == 1.5
    assert reporting.weighted(rows, "agreement") == 0.95
    assert reporting.weighted([], "speedup") is None


def test_the_networks_of_the_product_are_registered_once_and_prepared_by_the_worker() -> None:
    caller, _ = factories.key()
    names = {row.name for row in services.ship(caller)}
    assert {"efficientnet-lite0", "text-detector"} <= names
    assert services.ship(caller) == []
    row = Network.objects.get(name="text-detector")
    assert not row.ready
    Network.perform(row.pk, preparing.prepare)
    row.refresh_from_db()
    assert (row.status, row.error) == ("done", "")
    assert row.analysis["verdict"] and (row.input_width, row.input_height) == (640, 384)


def test_a_torch_module_is_registered_by_command(capsys: pytest.CaptureFixture[str]) -> None:
    factories.key()
    named = "tests.inference.services.test_reporting:module"
    call_command("register_model", named, "--mean=0.5,0.5,0.5", workspace="acme", name="mine", size="48x32")
    row = Network.objects.get(name="mine")
    assert (row.input_width, row.input_height, row.mean, row.status) == (48, 32, [0.5] * 3, "done")
    assert row.analysis["verdict"] in capsys.readouterr().out
    for wrong in (("nowhere:module", {}), (named, {"name": "mine"}), (named, {"size": "48"}), ("math:pi", {})):
        with pytest.raises((CommandError, TypeError)):
            call_command("register_model", wrong[0], workspace="acme", **wrong[1])


def test_the_web_process_loads_neither_the_engine_nor_what_it_stands_on() -> None:
    code = (
        "import sys; sys.path.insert(0, 'platform'); import config.asgi;"
        "heavy = ('torch', 'onnx', 'apps.inference.core.engine', 'apps.inference.core.regions', 'av');"
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
