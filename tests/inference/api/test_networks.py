"""Models over the API: what is registered, what is refused and why, and who sees it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from apps.inference.core import inspection
from apps.inference.models import Job, Network
from tests import factories
from tests.clients import Http, Reply
from tests.inference import makers

pytestmark = pytest.mark.django_db(transaction=True)
PATH = "/api/v1/inference/models/"
ABOUT = {"name": "small", "task": "classification", "mean": "0.5,0.5,0.5", "std": "[0.2, 0.2, 0.2]"}


def post(secret: str, data: bytes, headers: dict[str, str] | None = None, **fields: Any) -> Reply:
    body, kind = makers.form(data, "net.onnx", **{**ABOUT, **fields})
    return Http(secret).call("POST", PATH, body, kind, headers)


def test_a_network_is_registered_with_its_analysis_and_read_back() -> None:
    _, secret = factories.key()
    reply = post(secret, makers.classifier(), labels="a,b,c,d,e", input_width=96, input_height=64)
    assert reply.status_code == 201, reply.content
    row = reply.json()
    assert (row["name"], row["task"], row["status"]) == ("small", "classification", "done")
    assert (row["input_width"], row["input_height"], row["layout"]) == (96, 64, "NCHW")
    assert (row["mean"], row["std"], row["labels"]) == ([0.5] * 3, [0.2] * 3, list("abcde"))
    analysis = row["analysis"]
    assert analysis["spatial_nodes"] >= 3
    assert [each["dirty"] for each in analysis["shares"]] == [0.005, 0.05, 0.2]
    assert analysis["cache_bytes"] > 0 and analysis["verdict"]
    assert Http(secret).get(f"{PATH}{row['id']}/").json() == row
    (listed,) = Http(secret).get(PATH).json()["results"]
    assert listed["id"] == row["id"]


def test_sizes_are_taken_from_the_file_where_it_fixes_them_and_asked_for_where_it_does_not() -> None:
    _, secret = factories.key()
    fixed = post(secret, makers.classifier(), name="fixed").json()
    assert (fixed["input_width"], fixed["input_height"]) == (96, 64)
    free = post(secret, makers.classifier(free=True), name="free")
    assert free.status_code == 422 and "input_height" in free.json()["detail"]
    sized = post(secret, makers.classifier(free=True), name="free", input_width=80, input_height=48)
    assert sized.status_code == 201 and sized.json()["input_width"] == 80
    other = post(secret, makers.classifier(), name="other", input_width=97, input_height=64)
    assert other.status_code == 422 and "fixed to 96" in other.json()["detail"]


def refused() -> dict[str, tuple[bytes, str]]:
    """Files that are no networks for us, and a word of the reason."""
    good = onnx.load_from_string(makers.classifier())
    custom, outside, claims, no_conv, shapes = (onnx.ModelProto() for _ in range(5))
    for each in (custom, outside, claims, no_conv, shapes):
        each.CopyFrom(good)
    custom.graph.node[1].domain = "evil.ops"
    custom.opset_import.append(helper.make_opsetid("evil.ops", 1))
    tensor = outside.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    entry = tensor.external_data.add()
    entry.key, entry.value = "location", "../../../../etc/passwd"
    claims.graph.initializer[0].dims[:] = [2**20, 2**9, 1, 1]
    no_conv.graph.node[0].op_type = no_conv.graph.node[2].op_type = no_conv.graph.node[3].op_type = "Mul"
    gray = makers._model(
        [helper.make_node("Conv", ["image", "w"], ["out"], pads=[1, 1, 1, 1], name="conv")],
        [onnx.numpy_helper.from_array(np.ones((1, 1, 3, 3), np.float32), "w")],
        [1, 1, 64, 96],
        [1, 1, 64, 96],
    )
    return {
        "words": (b"not a network" * 50, "not ONNX"),
        "empty": (b"\n", "ONNX"),
        "pickle": (b"\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00\x8c\x05posix\x94\x8c\x06system\x94\x93\x94.", "ONNX"),
        "custom operations": (custom.SerializeToString(), "ustom operations"),
        "data elsewhere": (outside.SerializeToString(), "another file"),
        "claims 2 GB": (claims.SerializeToString(), "claims"),
        "no convolution": (no_conv.SerializeToString(), "convolution"),
        "grey": (gray, "three"),
        "cut": (makers.classifier()[:-700], "ONNX"),
    }


@pytest.mark.parametrize("kind", list(refused()))
def test_what_is_no_network_for_us_is_refused_with_a_reason_and_leaves_no_file(kind: str, settings: Any) -> None:
    caller, secret = factories.key()
    data, word = refused()[kind]
    reply = post(secret, data)
    assert reply.status_code == 422, reply.content
    assert word in reply.json()["detail"], reply.json()
    assert reply.json()["errors"][0]["field"] == "file"
    assert not Network.objects.exists()
    home = Path(settings.MEDIA_ROOT) / "inference" / str(caller.workspace_id) / "models"
    assert list(home.iterdir()) == []


@pytest.mark.parametrize(
    ("field", "value"),
    [("mean", "1,2"), ("mean", "a,b,c"), ("std", "0,0,0"), ("std", "nan,1,1"), ("task", "magic"), ("name", ""),
     ("input_width", "0"), ("layout", "NHWC"), ("labels", "[1")],
)  # fmt: skip
def test_facts_that_make_no_sense_are_refused_by_field(field: str, value: str) -> None:
    _, secret = factories.key()
    reply = post(secret, makers.classifier(), None, **{field: value})
    assert reply.status_code == 422
    assert reply.json()["errors"][0]["field"].startswith(field)


def test_a_name_is_used_once_and_a_repeat_with_the_same_key_gives_the_same_reply() -> None:
    _, secret = factories.key()
    key = {"Idempotency-Key": "once"}
    first, again = post(secret, makers.classifier(), key), post(secret, makers.classifier(), key)
    assert (first.status_code, first.json()) == (again.status_code, again.json())
    assert post(secret, makers.classifier(1), key).status_code == 409
    assert post(secret, makers.classifier(1)).status_code == 409
    assert Network.objects.count() == 1


def test_another_workspace_sees_nothing_and_a_client_changes_nothing() -> None:
    _, secret = factories.key()
    row = post(secret, makers.classifier()).json()
    _, other = factories.key("other")
    _, client = factories.key(scopes=("client",))
    assert Http(other).get(f"{PATH}{row['id']}/").status_code == 404
    assert Http(other).delete(f"{PATH}{row['id']}/").status_code == 404
    assert Http(other).get(PATH).json()["results"] == []
    assert Http(client).get(f"{PATH}{row['id']}/").status_code == 200
    assert Http(client).delete(f"{PATH}{row['id']}/").status_code == 403
    assert post(client, makers.classifier(), name="mine").status_code == 403


def test_a_network_is_deleted_with_its_file_unless_a_job_waits_for_it(settings: Any) -> None:
    caller, secret = factories.key()
    row = makers.network(caller)
    job = Job.objects.create(workspace_id=caller.workspace_id, network=row, file="a")
    assert Http(secret).delete(f"{PATH}{row.pk}/").status_code == 409
    Job.objects.filter(pk=job.pk).update(status="done")
    assert Http(secret).delete(f"{PATH}{row.pk}/").status_code == 204
    assert Http(secret).get(f"{PATH}{row.pk}/").status_code == 404
    assert not (Path(settings.MEDIA_ROOT) / row.file).exists()
    assert not Job.objects.exists()


def test_json_and_forms_without_a_file_are_refused() -> None:
    _, secret = factories.key()
    assert Http(secret).post(PATH, {"name": "x"}).status_code == 415
    edge = "----x"
    body = f'--{edge}\r\nContent-Disposition: form-data; name="name"\r\n\r\nx\r\n--{edge}--\r\n'.encode()
    reply = Http(secret).call("POST", PATH, body, f"multipart/form-data; boundary={edge}")
    assert reply.status_code == 422
    assert "file" in [error["field"] for error in reply.json()["errors"]]


def test_a_check_that_hangs_is_given_up(tmp_path: Path) -> None:
    (tmp_path / "a.onnx").write_bytes(makers.classifier())
    with pytest.raises(inspection.SlowError):
        inspection.inspect(tmp_path / "a.onnx", patience_s=0.01)


def test_the_list_is_json_with_pages() -> None:
    caller, secret = factories.key()
    for number in range(3):
        Network.objects.create(workspace_id=caller.workspace_id, name=f"n{number}", mean=[0] * 3, std=[1] * 3)
    page = json.loads(Http(secret).get(f"{PATH}?page_size=2").content)
    assert len(page["results"]) == 2 and page["next"]
