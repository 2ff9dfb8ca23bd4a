"""Import and export over HTTP."""

import pytest

from apps.answers.models import GoldenAnswer
from tests import factories
from tests.clients import Http

pytestmark = pytest.mark.django_db

URL = "/api/v1/answers/golden/"
ROWS = b"question,answer\r\nHow do I pay?,By card.\r\n"


@pytest.fixture
def owner() -> Http:
    return Http(factories.key()[1])


def form(name: str, data: bytes) -> tuple[bytes, str]:
    """Make a multipart body with one file."""
    head = f'--x\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'.encode()
    return head + data + b"\r\n--x--\r\n", "multipart/form-data; boundary=x"


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (ROWS, "text/csv"),
        (ROWS, "text/csv; charset=utf-8"),
        (b'{"question": "How do I pay?", "answer": "By card."}\n', "application/x-ndjson"),
        form("rows.csv", ROWS),
        form("rows.jsonl", b'{"question": "How do I pay?", "answer": "By card."}\n'),
    ],
)
def test_a_file_is_taken_in_every_way(owner: Http, body: bytes, kind: str) -> None:
    expected = {"created": 1, "updated": 0, "unchanged": 0, "errors": [], "more_errors": 0}
    assert owner.post(f"{URL}import/?dry_run=true", body, kind).json() == expected
    assert not GoldenAnswer.objects.exists()
    assert owner.post(f"{URL}import/", body, kind).json() == expected
    assert GoldenAnswer.objects.get().answer == "By card."


def test_errors_are_told_by_row(owner: Http) -> None:
    body = b"question,answer\r\nGood?,x\r\nBad?,\r\n"
    error = {"row": 3, "field": "answer", "message": "The answer is empty."}
    dry = owner.post(f"{URL}import/?dry_run=1", body, "text/csv")
    assert (dry.status_code, dry.json()["created"], dry.json()["errors"]) == (200, 1, [error])
    real = owner.post(f"{URL}import/", body, "text/csv")
    assert (real.status_code, real.headers["Content-Type"]) == (422, "application/problem+json")
    assert (real.json()["created"], real.json()["errors"], real.json()["status"]) == (0, [error], 422)
    assert not GoldenAnswer.objects.exists()


def test_an_import_that_publishes(owner: Http) -> None:
    assert owner.post(f"{URL}import/?publish=true", ROWS, "text/csv").status_code == 200
    assert owner.get(URL).json()["results"][0]["version"] == 1
    curator = Http(factories.key(scopes=("curator",))[1])
    assert curator.post(f"{URL}import/?publish=true", ROWS, "text/csv").status_code == 422
    assert curator.post(f"{URL}import/", ROWS, "text/csv").json()["unchanged"] == 1


@pytest.mark.parametrize(
    ("body", "kind", "query", "status"),
    [
        (b"", "text/csv", "", 422),
        (b"\xff", "text/csv", "", 400),
        (b"{}", "application/json", "", 415),
        (ROWS, "text/plain", "", 415),
        (ROWS, "text/csv", "?dry_run=perhaps", 422),
        (ROWS, "text/csv", "?publish=null", 422),
        (*form("x.csv", b""), "", 422),
        (b"--x--\r\n", "multipart/form-data; boundary=x", "", 422),
    ],
)
def test_a_body_that_cannot_be_read_is_refused(owner: Http, body: bytes, kind: str, query: str, status: int) -> None:
    assert owner.post(f"{URL}import/{query}", body, kind).status_code == status


def test_the_same_idempotency_key_imports_once(owner: Http) -> None:
    first, second = (owner.post(f"{URL}import/", ROWS, "text/csv", Idempotency_Key="k") for _ in range(2))
    assert first.json() == second.json() and first.json()["created"] == 1


@pytest.mark.parametrize(("query", "kind"), [("", "text/csv"), ("?format=jsonl", "application/x-ndjson")])
def test_an_export_is_a_file_that_can_be_imported(owner: Http, query: str, kind: str) -> None:
    owner.post(f"{URL}import/", ROWS, "text/csv")
    reply = owner.get(f"{URL}export/{query}")
    assert (reply.status_code, reply.headers["Content-Type"]) == (200, f"{kind}; charset=utf-8")
    assert owner.post(f"{URL}import/", reply.content, kind).json()["unchanged"] == 1


def test_a_dry_run_is_not_taken_for_the_real_one(owner: Http) -> None:
    assert owner.post(f"{URL}import/?dry_run=true", ROWS, "text/csv", Idempotency_Key="k").status_code == 200
    assert owner.post(f"{URL}import/", ROWS, "text/csv", Idempotency_Key="k").status_code == 409


def test_errors_look_alike_with_an_idempotency_key(owner: Http) -> None:
    reply = owner.post(f"{URL}import/", b"question\r\n", "text/csv", Idempotency_Key="k")
    assert (reply.status_code, reply.headers["Content-Type"]) == (422, "application/problem+json")


def test_an_export_that_makes_no_sense_is_refused(owner: Http) -> None:
    assert owner.get(f"{URL}export/?format=xlsx").status_code == 422
    assert owner.get(f"{URL}export/?status=lost").status_code == 422


def test_only_curators_carry_in_and_out(owner: Http) -> None:
    client = Http(factories.key(scopes=("client",))[1])
    assert client.get(f"{URL}export/").status_code == 403
    assert client.post(f"{URL}import/", ROWS, "text/csv").status_code == 403
