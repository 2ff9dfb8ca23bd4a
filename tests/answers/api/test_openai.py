"""An unmodified OpenAI client against the real site, in front of an upstream that misbehaves."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import openai
import pytest

from apps.answers.models import Entry, Query
from tests import factories
from tests.conftest import Site, wait_for
from tests.upstream import Upstream, upstream

pytestmark = pytest.mark.stack
QUESTION = "How do I reset my password?"


@contextmanager
def door(site: Site, behind: Upstream | None) -> Iterator[tuple[openai.OpenAI, str]]:
    """The site with an upstream, and a client of it."""
    caller, secret = factories.key()
    factories.golden(caller, QUESTION, "Open Settings, then Security, then Reset password. It takes a minute.")
    if behind:
        site.environment["ANSWERS_UPSTREAM_URL"] = behind.url
        site.environment["ANSWERS_UPSTREAM_KEY"] = "upstream secret"
        site.environment["ANSWERS_UPSTREAM_TIMEOUT_S"] = "2"
    site.start_web()
    with openai.OpenAI(base_url=f"{site.url}/v1", api_key=secret, max_retries=0, timeout=30) as client:
        yield client, secret


def messages(question: str) -> list[Any]:
    return [{"role": "user", "content": question}]


def test_hits_misses_and_streams_look_alike_to_an_openai_client(site: Site) -> None:
    with upstream("The upstream says so.") as behind, door(site, behind) as (client, _):
        hit = client.chat.completions.with_raw_response.create(model="m", messages=messages(QUESTION))
        assert hit.headers["x-touchstone-outcome"] == "static_hit"
        assert hit.headers["x-touchstone-origin"] == "golden"
        assert hit.parse().choices[0].message.content.startswith("Open Settings")

        parts = list(
            client.chat.completions.create(
                model="m", messages=messages(QUESTION), stream=True, stream_options={"include_usage": True}
            )
        )
        text = "".join(part.choices[0].delta.content or "" for part in parts if part.choices)
        assert text == hit.parse().choices[0].message.content
        assert parts[-1].usage is not None

        miss = client.chat.completions.with_raw_response.create(model="m", messages=messages("Who wrote Faust?"))
        assert miss.headers["x-touchstone-outcome"] == "miss"
        assert miss.parse().choices[0].message.content == "The upstream says so."
        again = client.chat.completions.with_raw_response.create(model="m", messages=messages("who wrote  FAUST?"))
        assert (again.headers["x-touchstone-outcome"], again.headers["x-touchstone-origin"]) == (
            "dynamic_hit",
            "generated",
        )
        assert len(behind.requests) == 1

        streamed = "".join(
            part.choices[0].delta.content or ""
            for part in client.chat.completions.create(model="m", messages=messages("And Hamlet?"), stream=True)
        )
        assert streamed.strip() == "The upstream says so."
        wait_for(lambda: Entry.objects.filter(question="And Hamlet?").exists())
        assert [model.id for model in client.models.list()] == ["gold-1"]


def test_a_stream_that_breaks_is_never_stored(site: Site) -> None:
    with upstream("one two three four") as behind, door(site, behind) as (client, _):
        behind.fault = "breaks"
        with pytest.raises(openai.APIError):
            for _ in client.chat.completions.create(model="m", messages=messages("Does it break?"), stream=True):
                pass
        behind.fault = "cut"
        client.chat.completions.create(model="m", messages=messages("Is it cut short?"))
        behind.fault = "garbage"
        with pytest.raises((openai.APIError, TypeError, AttributeError, ValueError)):
            client.chat.completions.create(model="m", messages=messages("Is it garbage?")).choices[0]
        assert not Entry.objects.exists()


@pytest.mark.parametrize(("fault", "status"), [("429", 429), ("500", 500), ("400", 400)])
def test_upstream_errors_pass_through_with_their_status(site: Site, fault: str, status: int) -> None:
    with upstream() as behind, door(site, behind) as (client, _):
        behind.fault = fault
        with pytest.raises(openai.APIStatusError) as caught:
            client.chat.completions.create(model="m", messages=messages("What now?"))
        assert caught.value.status_code == status
        assert f"upstream says {fault}" in str(caught.value)
        assert caught.value.response.headers.get("retry-after") == ("7" if fault == "429" else None)


def test_a_slow_or_absent_upstream_is_told_apart(site: Site) -> None:
    with upstream() as behind, door(site, behind) as (client, _):
        behind.fault = "slow"
        with pytest.raises(openai.APIStatusError) as caught:
            client.chat.completions.create(model="m", messages=messages("Is it slow?"))
        assert caught.value.status_code == 504
        behind.shutdown()
        behind.server_close()
        with pytest.raises(openai.APIStatusError) as caught:
            client.chat.completions.create(model="m", messages=messages("Is it there?"))
        assert caught.value.status_code == 502


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"n": 2}, "n"),
        ({"temperature": 1.7}, "temperature"),
        ({"tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}]}, "tools"),
        ({"response_format": {"type": "json_object"}}, "response_format"),
        ({"extra_headers": {"X-Touchstone-Bypass": "1"}}, "asked_to"),
        (
            {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:,"}}]}]},
            "not_text",
        ),
    ],
)
def test_what_one_answer_would_not_do_for_passes_through(site: Site, more: dict[str, Any], why: str) -> None:
    with upstream() as behind, door(site, behind) as (client, _):
        reply = client.chat.completions.with_raw_response.create(
            **{"model": "m", "messages": messages(QUESTION), **more}
        )
        assert reply.headers["x-touchstone-outcome"] == "bypass"
        assert reply.headers["x-touchstone-reason"] == why
        assert not Query.objects.exists()


def test_a_follow_up_never_meets_another_conversations_answer(site: Site) -> None:
    with upstream("Cats sleep.") as behind, door(site, behind) as (client, _):
        dogs = [{"role": "user", "content": "Do dogs bark?"}, {"role": "assistant", "content": "Yes."}]
        fish = [{"role": "user", "content": "Do fish swim?"}, {"role": "assistant", "content": "Yes."}]
        follow_up = {"role": "user", "content": "And for cats?"}
        for turns, calls in ((dogs, 1), (dogs, 1), (fish, 2), ([], 3)):
            client.chat.completions.create(model="m", messages=[*turns, follow_up])
            assert len(behind.requests) == calls


def test_errors_have_openai_s_shape(site: Site) -> None:
    with door(site, None) as (client, secret):
        with pytest.raises(openai.AuthenticationError):
            client.with_options(api_key="wrong").chat.completions.create(model="m", messages=messages("x"))
        with pytest.raises(openai.BadRequestError):
            client.chat.completions.create(model="m", messages=[])
        with pytest.raises(openai.NotFoundError, match="nowhere"):
            client.chat.completions.create(
                model="m", messages=messages("x"), extra_headers={"X-Touchstone-Namespace": "nowhere"}
            )
        with pytest.raises(openai.APIStatusError) as caught:
            client.chat.completions.create(model="m", messages=messages("Nobody knows this."))
        assert caught.value.status_code == 503
        reply = httpx.post(
            f"{site.url}/v1/chat/completions", content=b"{not json", headers={"Authorization": f"Bearer {secret}"}
        )
        assert reply.status_code == 400
        assert set(reply.json()["error"]) == {"message", "type", "param", "code"}
        tight = {"Authorization": f"Bearer {secret}", "X-Touchstone-Min-Similarity": "0.999"}
        body = {"model": "m", "messages": messages("how can i reset my password")}
        assert httpx.post(f"{site.url}/v1/chat/completions", json=body, headers=tight).status_code == 503
        assert "ANSWERS_UPSTREAM_URL" not in os.environ


def test_what_this_door_does_not_know_is_told_in_its_own_shape(site: Site) -> None:
    with door(site, None) as (client, secret):
        with pytest.raises(openai.NotFoundError) as unknown:
            client.embeddings.create(model="m", input="x")
        assert "nothing at this path" in str(unknown.value)
        with pytest.raises(openai.BadRequestError, match="temperature"):
            client.chat.completions.create(model="m", messages=messages("x"), temperature="hot")  # type: ignore[arg-type]
        headers = {"Authorization": f"Bearer {secret}"}
        reply = httpx.get(f"{site.url}/v1/chat/completions", headers=headers)
        assert (reply.status_code, set(reply.json())) == (405, {"error"})


def test_a_miss_without_an_upstream_asks_clients_not_to_retry(site: Site) -> None:
    with door(site, None) as (client, _), pytest.raises(openai.InternalServerError) as missed:
        client.chat.completions.create(model="m", messages=messages("Who wrote Faust?"))
    assert missed.value.status_code == 503
    assert missed.value.response.headers["x-should-retry"] == "false"
