"""The OpenAI-compatible door: an unchanged client works by changing its base URL.

Hits look like misses on the wire; what cannot be cached passes through; trouble in the cache falls open.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from typing import Any

import httpx
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse, StreamingHttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from apps.access import services as access
from apps.access.api import pool
from apps.access.core.callers import Caller
from apps.answers import services
from apps.answers.core import chat
from apps.answers.services import backend

log = logging.getLogger(__name__)
DEADLINE_S = 2.0  # the cache's whole share of a request; past it the upstream answers
PASSED_ON = {"content-type", "retry-after", "openai-processing-ms", "x-request-id"}


def failure(status: int, message: str, kind: str = "invalid_request_error", **more: Any) -> JsonResponse:
    """Answer in OpenAI's error shape."""
    retry = more.pop("retry_after_s", None)
    error = {"message": message, "type": kind, "param": more.get("param"), "code": more.get("code")}
    response = JsonResponse({"error": error}, status=status)
    if retry is not None:
        response["Retry-After"] = str(retry)
    return response


async def authenticated(request: HttpRequest) -> Caller | JsonResponse:
    """Recognise the bearer key, or say in OpenAI's shape what is wrong with it."""
    scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
    try:
        caller = await pool.run(access.recognise, secret.strip()) if scheme.lower() == "bearer" else None
        if caller is None:
            return failure(401, "Incorrect API key provided.", code="invalid_api_key")
        if not caller.may("client"):
            return failure(403, "This key lacks the scope.", code="insufficient_scope")
        await pool.run(access.spend, caller)
    except access.Limited as problem:
        return failure(429, problem.detail, "rate_limit_error", retry_after_s=problem.retry_after_s)
    return caller


@csrf_exempt
@require_http_methods(["GET"])
async def models(request: HttpRequest) -> HttpResponseBase:
    """List the models of the upstream, or the one this cache answers for."""
    caller = await authenticated(request)
    if isinstance(caller, JsonResponse):
        return caller
    if backend.configured():
        async with httpx.AsyncClient(timeout=backend.timeout(), trust_env=False) as client:
            try:
                reply = await client.get(backend.url("models"), headers=backend.headers())
                return _passed_on(reply)
            except httpx.HTTPError:
                log.warning("the upstream's model list is out of reach")
    model = {"id": services.own_model(), "object": "model", "created": 0, "owned_by": "touchstone"}
    return JsonResponse({"object": "list", "data": [model]})


@csrf_exempt
@require_http_methods(["POST"])
async def completions(request: HttpRequest) -> HttpResponseBase:
    """Answer a chat completion from the cache or the upstream."""
    caller = await authenticated(request)
    if isinstance(caller, JsonResponse):
        return caller
    try:
        body = json.loads(request.body)
        asked = chat.parse(body)
        question = _question(request, asked)
    except chat.ChatError as problem:
        return failure(400, str(problem), param=problem.param)
    except (ValueError, RecursionError):
        return failure(400, "The body is not JSON.")
    bypass = asked.bypass or (
        "asked_to" if request.headers.get("X-Touchstone-Bypass", "") not in {"", "0", "false"} else ""
    )
    served = None if bypass else await _look(caller, question)
    if isinstance(served, JsonResponse):
        return served
    if served and served.answer is not None:
        return _hit(asked, served)
    return await _upstream(body, asked, served, bypass)


def _question(request: HttpRequest, asked: chat.ChatRequest) -> services.Question:
    wanted = request.headers.get("X-Touchstone-Min-Similarity", "0")
    try:
        least = float(wanted)
    except ValueError:
        least = -1.0
    if not 0 <= least <= 1:
        raise chat.ChatError("X-Touchstone-Min-Similarity must be between 0 and 1.", "X-Touchstone-Min-Similarity")
    namespace = request.headers.get("X-Touchstone-Namespace", "default")
    return services.Question(asked.question, namespace, asked.context, least)


async def _look(caller: Caller, question: services.Question) -> services.Served | JsonResponse | None:
    """Look into the cache within the deadline; None when the cache itself has trouble (falls open, counted)."""
    try:
        return await asyncio.wait_for(pool.run(services.answer, caller, question), DEADLINE_S)
    except access.Missing as problem:
        return failure(404, problem.detail, code="namespace_not_found")
    except access.Invalid as problem:
        return failure(400, problem.detail, param="messages")
    except Exception:
        log.exception("the cache has trouble; the upstream answers")
        services.count_fail_open(caller, question.namespace)
        return None


def _headers(served: services.Served | None, bypass: str) -> dict[str, str]:
    headers = {"X-Touchstone-Outcome": served.outcome if served else "bypass" if bypass else "miss"}
    if bypass or (served and served.reason):
        headers["X-Touchstone-Reason"] = bypass or (served.reason if served else "")
    if served is None:
        return headers
    if served.origin:
        headers["X-Touchstone-Origin"] = served.origin
    best = max((value for value in (served.s_static, served.s_dynamic) if value is not None), default=None)
    if best is not None:
        headers["X-Touchstone-Similarity"] = f"{best:.4f}"
    if served.query_id:
        headers["X-Touchstone-Query"] = str(served.query_id)
    return headers


def _hit(asked: chat.ChatRequest, served: services.Served) -> HttpResponseBase:
    answer = served.answer or ""
    if not asked.stream:
        return JsonResponse(chat.completion(asked.model, answer), headers=_headers(served, ""))

    async def stream() -> AsyncIterator[bytes]:
        for event in chat.events(asked.model, answer, asked.include_usage):
            yield event

    return _events(stream(), _headers(served, ""))


def _events(stream: AsyncIterator[bytes], headers: dict[str, str]) -> StreamingHttpResponse:
    headers = {**headers, "Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
    return StreamingHttpResponse(stream, content_type="text/event-stream", headers=headers)


async def _upstream(
    body: dict[str, Any], asked: chat.ChatRequest, served: services.Served | None, bypass: str
) -> HttpResponseBase:
    """Pass the request to the upstream and keep a whole answer as a generated entry."""
    headers = _headers(served, bypass)
    if not backend.configured():
        response = failure(
            503,
            "Nothing in the cache answers this, and no upstream is configured.",
            "server_error",
            code="no_upstream",
            retry_after_s=60,
        )
        return _with(response, {**headers, "X-Should-Retry": "false"})  # OpenAI's clients would ask again at once
    client = httpx.AsyncClient(timeout=backend.timeout(), trust_env=False)
    sent = client.build_request("POST", backend.url("chat/completions"), json=body, headers=backend.headers())
    try:
        reply = await client.send(sent, stream=True)
        if not asked.stream or reply.status_code != 200:
            return await _whole(client, reply, served, headers)
    except httpx.TimeoutException:
        await client.aclose()
        return failure(504, "The upstream did not answer in time.", "server_error", code="upstream_timeout")
    except httpx.HTTPError:
        await client.aclose()
        return failure(502, "The upstream is out of reach.", "server_error", code="upstream_unreachable")
    return _events(_relay(client, reply, served), headers)


async def _whole(
    client: httpx.AsyncClient, reply: httpx.Response, served: services.Served | None, headers: dict[str, str]
) -> HttpResponse:
    await reply.aread()
    await client.aclose()
    if reply.status_code == 200:
        try:
            await _keep(served, chat.answer_of(reply.json()))
        except ValueError:
            log.warning("the upstream answered 200 with something that is not JSON; it is passed on and not kept")
    response = _passed_on(reply)
    return _with(response, headers)


async def _relay(
    client: httpx.AsyncClient, reply: httpx.Response, served: services.Served | None
) -> AsyncIterator[bytes]:
    """Pass a stream on as it comes; only a stream that ended as it should is kept."""
    transcript = chat.Transcript()
    try:
        async for data in reply.aiter_raw():
            transcript.feed(data)
            yield data
    except httpx.HTTPError:
        error = {"message": "The upstream broke off.", "type": "server_error", "code": "upstream_broke"}
        yield b"data: " + json.dumps({"error": error}).encode() + b"\n\n"
    finally:
        await reply.aclose()
        await client.aclose()
    await _keep(served, transcript.answer())


async def _keep(served: services.Served | None, answer: str | None) -> None:
    """Store a generated answer; failing to store it must not fail the reply."""
    if served is None or served.outcome != "miss" or served.query_id is None or answer is None:
        return
    try:
        await pool.run(services.keep_generated, served, answer)
    except Exception:
        log.exception("a generated answer could not be kept")


def _with(response: HttpResponse, headers: dict[str, str]) -> HttpResponse:
    for name, value in headers.items():
        response[name] = value
    return response


def _passed_on(reply: httpx.Response) -> HttpResponse:
    headers = {name: value for name, value in reply.headers.items() if name.lower() in PASSED_ON}
    return HttpResponse(reply.content, status=reply.status_code, headers=headers)
