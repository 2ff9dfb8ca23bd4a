"""Ask, in every bad way there is."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from apps.access import services as access
from apps.access.models import ApiKey
from apps.answers.models import Query, Verification
from tests import factories
from tests.conftest import Site

pytestmark = pytest.mark.stack


@pytest.fixture
def asked(site: Site) -> Any:
    """Ask the running site; returns (status, body)."""
    caller, secret = factories.key()
    factories.golden(caller, "How do I reset my password?", "Open Settings.", "forgot my password")
    site.start_web()
    client = httpx.Client(base_url=site.url, headers={"Authorization": f"Bearer {secret}"}, timeout=60)

    def ask(body: Any, path: str = "query/", **options: Any) -> tuple[int, Any]:
        reply = client.post(f"/api/v1/answers/{path}", **({"json": body} if body is not None else {}), **options)
        return reply.status_code, reply.json()

    yield ask
    client.close()


def test_bad_questions_are_told_what_is_wrong(asked: Any) -> None:
    cases = [
        ({"question": ""}, 422),
        ({"question": " \u200b "}, 422),
        ({"question": "a\0b"}, 422),
        ({"question": "x" * 1_000_000}, 422),
        ({}, 422),
        ({"question": 7, "namespace": []}, 422),
        ({"question": 5}, 422),
        ({"question": "x", "context": "y"}, 422),
        ({"question": "x", "context": [{"role": "user"}]}, 422),
        ([], 422),
        ({"question": "x", "namespace": "nowhere"}, 404),
        ({"question": "x", "namespace": "a\0b"}, 422),
    ]
    for body, status in cases:
        got, problem = asked(body)
        assert (got, problem["status"]) == (status, status), body
        assert set(problem) == {"type", "title", "status", "detail", "errors", "request_id"}
    assert "nowhere" in asked({"question": "x", "namespace": "nowhere"})[1]["detail"]
    assert not Query.objects.exists()


def test_what_cannot_be_read_is_400_too_much_is_413_and_another_kind_is_415(asked: Any) -> None:
    json_kind = {"Content-Type": "application/json"}
    assert asked(None, content=b"{", headers=json_kind)[0] == 400
    assert asked(None, content=b'{"question": "\\ud800"}', headers=json_kind)[0] == 422
    assert asked(None, content=b"\xff\xfe", headers=json_kind)[0] == 400
    assert asked(None, content=b"x" * 9_000_000, headers=json_kind)[0] == 413
    assert asked(None, content=b"<a/>", headers={"Content-Type": "text/xml"})[0] == 415


def test_any_script_may_ask(asked: Any) -> None:
    for question in ("كيف أعيد تعيين كلمة المرور؟", "🔑❓ password 🙏", "パスワードを忘れた", "x" * 16_384):
        status, body = asked({"question": question})
        assert (status, body["outcome"]) == (200, "miss")


def test_an_alias_is_an_exact_hit(asked: Any) -> None:
    _, body = asked({"question": "Forgot  my PASSWORD"})
    assert (body["outcome"], body["origin"], body["similarity"]["static"]) == ("static_hit", "golden", 1.0)
    assert set(body["timings_ms"]) == {"embed", "search", "backend", "total"}


def test_a_miss_can_be_filled_once(asked: Any) -> None:
    _, miss = asked({"question": "Who painted it?"})
    fill = f"query/{miss['id']}/fill/"
    assert asked({"answer": " "}, fill)[0] == 422
    assert asked({"answer": "x", "ttl_s": 0}, fill)[0] == 422
    status, entry = asked({"answer": "Vermeer", "ttl_s": 60}, fill)
    assert (status, entry["origin"]) == (201, "client")
    assert asked({"answer": "Rembrandt"}, fill)[0] == 409
    _, hit = asked({"question": "who painted it?"})
    assert (hit["outcome"], hit["answer"], hit["origin"]) == ("dynamic_hit", "Vermeer", "client")
    assert asked({"answer": "x"}, f"query/{hit['id']}/fill/")[0] == 409
    assert asked({"answer": "x"}, "query/00000000-0000-7000-8000-000000000000/fill/")[0] == 404


def test_the_same_idempotency_key_fills_once_and_replies_twice(asked: Any) -> None:
    _, miss = asked({"question": "Who sang it?"})
    fill, once = f"query/{miss['id']}/fill/", {"Idempotency-Key": "k1"}
    first, second = (asked({"answer": "Callas"}, fill, headers=once) for _ in range(2))
    assert first == second
    assert first[0] == 201
    assert asked({"answer": "Other"}, fill, headers=once)[0] == 409


def test_a_batch_keeps_its_order_and_refuses_whole(asked: Any) -> None:
    batch = [
        {"question": "forgot my password"},
        {"question": "Unknown thing"},
        {"question": "How do I reset my password?"},
    ]
    status, replies = asked(batch, "query/batch/")
    assert (status, [reply["outcome"] for reply in replies]) == (200, ["static_hit", "miss", "static_hit"])
    assert asked([], "query/batch/")[0] == 422
    assert asked([{"question": "x"}] * 257, "query/batch/")[0] == 422
    status, problem = asked([{"question": "fine"}, {"question": ""}], "query/batch/")
    assert status == 422
    assert problem["errors"][0]["field"].startswith("1")


def test_a_thousand_concurrent_same_questions_make_one_verification(asked: Any) -> None:
    question = {"question": "I cannot remember my password, help"}
    with ThreadPoolExecutor(16) as crowd:
        replies = list(crowd.map(lambda _: asked(question), range(1_000)))
    assert {status for status, _ in replies} == {200}
    assert {body["outcome"] for _, body in replies} == {"miss"}
    assert Verification.objects.count() == 1
    assert len({body["verification"] for _, body in replies}) == 1
    assert Query.objects.count() == 1_000


def test_one_workspace_never_meets_another(asked: Any, site: Site) -> None:
    _, stranger = factories.key("rival")
    _, mine = asked({"question": "A private question?"})
    asked({"answer": "secret"}, f"query/{mine['id']}/fill/")
    headers = {"Authorization": f"Bearer {stranger}"}
    for question in ("A private question?", "How do I reset my password?"):
        reply = httpx.post(f"{site.url}/api/v1/answers/query/", json={"question": question}, headers=headers).json()
        assert (reply["outcome"], reply["similarity"]) == ("miss", {"static": None, "dynamic": None})
    for path in (f"query/{mine['id']}/fill/", f"query/{mine['id']}/feedback/"):
        body = {"answer": "x", "verdict": "good"}
        assert httpx.post(f"{site.url}/api/v1/answers/{path}", json=body, headers=headers).status_code == 404


def test_keys_are_checked_limited_and_end_at_once(asked: Any, site: Site) -> None:
    body, path = {"question": "x y z"}, f"{site.url}/api/v1/answers/query/"
    assert httpx.post(path, json=body).status_code == 401
    assert httpx.post(path, json=body, headers={"Authorization": "Bearer nonsense"}).status_code == 401
    _, limited = factories.key(rate_per_minute=3)
    statuses = [httpx.post(path, json=body, headers={"Authorization": f"Bearer {limited}"}) for _ in range(5)]
    assert [reply.status_code for reply in statuses].count(429) >= 1
    assert int(statuses[-1].headers["Retry-After"]) <= 60
    _, ended = factories.key()
    headers = {"Authorization": f"Bearer {ended}"}
    assert httpx.post(path, json=body, headers=headers).status_code == 200
    access.revoke(ApiKey.objects.get(prefix=ended[:10]))
    time.sleep(0.3)
    assert httpx.post(path, json=body, headers=headers).status_code == 401


def test_a_bottomless_body_is_400_on_every_door(asked: Any, site: Site) -> None:
    deep = {"content": "[" * 200_000, "headers": {"Content-Type": "application/json"}}
    status, problem = asked(None, **deep)
    assert (status, problem["status"]) == (400, 400)
    secret = factories.key()[1]
    headers = {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"}
    reply = httpx.post(f"{site.url}/v1/chat/completions", content="[" * 200_000, headers=headers)
    assert reply.status_code == 400
    assert set(reply.json()) == {"error"}
    nested = "[" * 100_000 + "]" * 100_000
    assert httpx.post(f"{site.url}/v1/chat/completions", content=nested, headers=headers).status_code == 400
    assert asked(None, content=nested, headers={"Content-Type": "application/json"})[0] in {400, 422}


def test_a_body_sent_to_a_path_without_its_slash_is_not_redirected_away(site: Site) -> None:
    _, secret = factories.key()
    site.start_web()
    headers = {"Authorization": f"Bearer {secret}"}
    reply = httpx.post(f"{site.url}/api/v1/answers/golden", json={}, headers=headers)
    assert reply.status_code == 404
    assert "/api/v1/answers/golden/" in reply.json()["detail"]
