"""Entries over HTTP: read by curators and operators, deleted by operators."""

import uuid

import pytest

from apps.access.core.callers import Caller
from apps.answers.models import Entry
from tests import factories
from tests.clients import Http

pytestmark = pytest.mark.django_db

URL = "/api/v1/answers/entries/"


@pytest.fixture
def caller() -> Caller:
    return factories.key()[0]


@pytest.fixture
def operator(caller: Caller) -> Http:
    return Http(factories.key(scopes=("operator",))[1])


def test_an_operator_lists_reads_and_deletes(caller: Caller, operator: Http) -> None:
    row = factories.entry(caller, "What is this?", vector=None, by="backend")
    (listed,) = operator.get(URL).json()["results"]
    assert listed == operator.get(f"{URL}{row.pk}/").json()
    assert (listed["question"], listed["origin"], listed["client"]) == ("What is this?", "generated", "backend")
    assert operator.delete(f"{URL}{row.pk}/").status_code == 204
    assert operator.delete(f"{URL}{row.pk}/").status_code == 404


def test_curators_read_and_clients_do_not(caller: Caller) -> None:
    row = factories.entry(caller, "What is this?", vector=None)
    curator, client = (Http(factories.key(scopes=(scope,))[1]) for scope in ("curator", "client"))
    assert (curator.get(URL).status_code, client.get(URL).status_code) == (200, 403)
    assert curator.delete(f"{URL}{row.pk}/").status_code == 403
    assert curator.post(f"{URL}purge/", {"namespace": "default"}).status_code == 403
    assert Http().get(URL).status_code == 401
    assert Entry.objects.count() == 1


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", {"a", "b"}), ("?origin=client", {"b"}), ("?q=A", {"a"}), ("?live=true", {"a"}), ("?live=false", {"b"}),
        ("?client=backend", {"a"}), (f"?golden={uuid.uuid4()}", set()), ("?namespace=nowhere", set()),
        ("?ordering=-expires_at&created_after=2001-01-01T00:00:00Z", {"a", "b"}),
    ],
)  # fmt: skip
def test_lists_are_narrowed_by_filters(caller: Caller, operator: Http, query: str, found: set[str]) -> None:
    factories.entry(caller, "a", vector=None, by="backend")
    factories.entry(caller, "b", vector=None, origin="client", suspended_at="2020-01-01T00:00:00Z")
    assert {row["question"] for row in operator.get(URL + query).json()["results"]} == found


@pytest.mark.parametrize("query", ["?golden=x", "?origin=x", "?created_after=x", "?live=x"])
def test_a_filter_that_cannot_be_read_is_refused(operator: Http, query: str) -> None:
    assert operator.get(URL + query).status_code == (200 if "live" in query else 422)


def test_a_purge_says_how_many(caller: Caller, operator: Http) -> None:
    for question in ("a", "b", "c"):
        factories.entry(caller, question, vector=None)
    assert operator.post(f"{URL}purge/", {"namespace": "default", "q": "a"}).json() == {"count": 1}
    assert operator.post(f"{URL}purge/", {}).status_code == 422
    assert operator.post(f"{URL}purge/", {"ids": ["x"]}).status_code == 422
    misspelt = operator.post(f"{URL}purge/", {"namespace": "default", "clinet": "x"})
    assert misspelt.json()["errors"][0]["field"] == "clinet"
    assert Entry.objects.count() == 2


def test_another_workspaces_entry_is_not_found(caller: Caller) -> None:
    row = factories.entry(caller, "ours", vector=None)
    stranger = Http(factories.key("other")[1])
    assert stranger.get(URL).json()["results"] == []
    assert stranger.get(f"{URL}{row.pk}/").status_code == stranger.delete(f"{URL}{row.pk}/").status_code == 404
    assert stranger.post(f"{URL}purge/", {"ids": [str(row.pk)]}).json() == {"count": 0}
    assert Entry.objects.count() == 1
