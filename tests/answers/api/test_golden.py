"""The curators' door over HTTP."""

from typing import Any

import pytest

from apps.answers.models import GoldenAnswer
from tests import factories
from tests.clients import Http

pytestmark = pytest.mark.django_db

URL = "/api/v1/answers/golden/"
BODY = {"question": "How do I reset my password?", "answer": "Open Settings.", "tags": ["account"]}


@pytest.fixture
def curator() -> Http:
    return Http(factories.key(scopes=("curator",))[1])


@pytest.fixture
def other_curator(curator: Http) -> Http:
    return Http(factories.key(scopes=("curator",))[1])


def made(curator: Http, **values: Any) -> Any:
    reply = curator.post(URL, {**BODY, **values})
    assert reply.status_code == 201, reply.content
    return reply.json()


def test_a_curator_writes_reads_changes_and_deletes_a_draft(curator: Http) -> None:
    row = made(curator, aliases=["Forgot my password"], valid_until="2999-01-01T00:00:00Z")
    assert (row["status"], row["version"], row["conflicts"], row["namespace"]) == ("draft", None, [], "default")
    url = f"{URL}{row['id']}/"
    assert curator.get(url).json()["aliases"] == ["Forgot my password"]
    assert curator.patch(url, {"answer": "Ask."}).json()["answer"] == "Ask."
    assert curator.put(url, BODY).json()["aliases"] == []
    assert curator.delete(url).status_code == 204
    assert curator.get(url).status_code == 404


def test_the_whole_life_cycle_over_http(curator: Http, other_curator: Http) -> None:
    url = f"{URL}{made(curator)['id']}/"
    assert curator.post(f"{url}submit/").json()["status"] == "in_review"
    assert curator.post(f"{url}approve/").status_code == 409
    assert other_curator.post(f"{url}approve/").json()["status"] == "approved"
    assert curator.post(f"{url}publish/").json()["version"] == 1
    (version,) = curator.get(f"{url}versions/").json()
    assert (version["version"], version["ended_at"], version["changes"]) == (1, None, [])
    assert curator.get(f"{url}conflicts/").json() == []
    assert curator.get(f"{url}promotions/").json()["results"] == []
    assert curator.post(f"{url}retire/").json()["status"] == "retired"


def test_saving_names_the_published_answer_that_stands_too_close(curator: Http) -> None:
    caller, _ = factories.key()
    near = factories.golden(caller, "How can I reset my password?", "Call us.")
    (rival,) = made(curator)["conflicts"]
    assert (rival["kind"], rival["golden"], rival["answer"]) == ("conflict", str(near.pk), "Call us.")


def test_promotions_are_listed(curator: Http) -> None:
    caller, _ = factories.key()
    row = factories.golden(caller, "How can I reset my password?", "Call us.")
    entry = factories.promotion(caller, row, "I lost my password")
    (listed,) = curator.get(f"{URL}{row.pk}/promotions/").json()["results"]
    assert (listed["id"], listed["golden"], listed["answer"]) == (str(entry.pk), str(row.pk), None)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", {"a", "b"}),
        ("?tags=billing", {"b"}),
        ("?tags=billing,account", set()),
        ("?q=SETTINGS", {"a"}),
        ("?status=published", set()),
        ("?status=draft&namespace=default", {"a", "b"}),
        ("?namespace=elsewhere", set()),
        ("?created_after=2999-01-01T00:00:00Z", set()),
        ("?created_before=2999-01-01T00:00:00Z&ordering=created_at", {"a", "b"}),
    ],
)
def test_lists_are_narrowed_by_filters(curator: Http, query: str, found: set[str]) -> None:
    made(curator, question="a")
    made(curator, question="b", answer="Pay.", tags=["billing"])
    assert {row["question"] for row in curator.get(URL + query).json()["results"]} == found


def test_a_list_is_read_page_by_page(curator: Http) -> None:
    for number in range(5):
        made(curator, question=f"Question {number}")
    seen, url = [], f"{URL}?page_size=2"
    while url:
        page = curator.get(url).json()
        seen += [row["question"] for row in page["results"]]
        url = page["next"]
    assert sorted(seen) == [f"Question {number}" for number in range(5)]


@pytest.mark.parametrize(
    "query",
    [
        "?status=nonsense",
        "?created_after=yesterday",
        "?q=%00",
        "?review_by=",
        "?created_after=0001-01-01T00:00:00%2B23:00",
    ],
)
def test_a_filter_that_cannot_be_read_is_refused(curator: Http, query: str) -> None:
    reply = curator.get(URL + query)
    assert (reply.status_code, reply.headers["Content-Type"]) == (422, "application/problem+json")


def test_a_time_of_any_zone_is_compared(curator: Http) -> None:
    made(curator)
    assert len(curator.get(f"{URL}?created_after=1841-05-16T01:53:49-18:37").json()["results"]) == 1


def test_a_draft_has_no_versions(curator: Http) -> None:
    assert curator.get(f"{URL}{made(curator)['id']}/versions/").json() == []


def test_another_workspaces_answer_is_not_found(curator: Http) -> None:
    url = f"{URL}{made(curator)['id']}/"
    stranger = Http(factories.key("other")[1])
    assert stranger.get(URL).json()["results"] == []
    for method, path in [
        ("GET", url), ("PUT", url), ("PATCH", url), ("DELETE", url),
        ("POST", f"{url}submit/"), ("POST", f"{url}approve/"), ("POST", f"{url}publish/"), ("POST", f"{url}retire/"),
        ("GET", f"{url}versions/"), ("GET", f"{url}conflicts/"), ("GET", f"{url}promotions/"),
    ]:  # fmt: skip
        assert stranger.call(method, path, BODY).status_code == 404, path


@pytest.mark.parametrize("scope", ["client", "operator"])
def test_only_curators_come_in(curator: Http, scope: str) -> None:
    url = f"{URL}{made(curator)['id']}/"
    intruder = Http(factories.key(scopes=(scope,))[1])
    for method, path in [("GET", URL), ("POST", URL), ("GET", url), ("DELETE", url), ("POST", f"{url}publish/")]:
        assert intruder.call(method, path, BODY).status_code == 403
    assert Http().get(URL).status_code == 401


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"question": " "}, "question"),
        ({"question": "\u0000"}, "question"),
        ({"answer": 7 * "x" * 100_000}, "answer"),
        ({"aliases": "no list"}, "aliases"),
        ({"tags": ["x" * 61]}, "tags.0"),
        ({"attachments": ["ftp://x"]}, "attachments"),
        ({"valid_from": "2030-01-01T00:00:00Z", "valid_until": "2029-01-01T00:00:00Z"}, "valid_until"),
    ],
)
def test_a_value_that_is_not_valid_is_named(curator: Http, values: dict[str, Any], field: str) -> None:
    reply = curator.post(URL, {**BODY, **values})
    assert reply.status_code == 422
    assert reply.json()["errors"][0]["field"] == field


def test_an_unknown_owner_is_404_and_named(curator: Http) -> None:
    factories.key("other")
    factories.member("other", "curator", "grace")
    reply = curator.post(URL, {**BODY, "owner": "grace"})
    assert (reply.status_code, reply.json()["errors"][0]["field"]) == (404, "owner")


def test_an_unknown_namespace_is_404_and_named(curator: Http) -> None:
    reply = curator.post(URL, {**BODY, "namespace": "nowhere"})
    assert reply.status_code == 404 and "'nowhere'" in reply.json()["detail"]


def test_half_a_surrogate_pair_is_refused(curator: Http) -> None:
    reply = curator.post(URL, b'{"question": "\\ud800", "answer": "x"}')
    assert reply.status_code == 422


def test_the_same_idempotency_key_creates_once(curator: Http) -> None:
    first = curator.post(URL, BODY, Idempotency_Key="k1")
    second = curator.post(URL, BODY, Idempotency_Key="k1")
    assert first.json() == second.json() and GoldenAnswer.objects.count() == 1
    assert curator.post(URL, {**BODY, "answer": "x"}, Idempotency_Key="k1").status_code == 409


def test_an_owner_is_a_member_of_the_workspace(curator: Http) -> None:
    factories.member("acme", "curator", "grace")
    assert made(curator, owner="grace")["owner"] == "grace"
