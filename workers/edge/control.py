"""The platform as the agent sees it: four calls, each of which may fail without anybody at the edge noticing."""

from __future__ import annotations

import time
from typing import Any

import httpx

TIMEOUT_S = 5.0
LONGEST_PAUSE_S = 30.0


class Unreachable(Exception):
    """The platform does not answer, or not with what was agreed; it is asked again later."""


class Unknown(Unreachable):
    """The platform does not know this edge (any more)."""


class Touchstone:
    """The segments API (api.md); after a failure it is left alone for a while that doubles up to half a minute."""

    def __init__(self, url: str, key: str) -> None:
        self._http = httpx.Client(
            base_url=f"{url}/api/v1/segments/edges/",
            headers={"Authorization": f"Bearer {key}"},
            timeout=TIMEOUT_S,
            trust_env=False,
        )
        self._pause_s, self._again_at = 0.0, 0.0

    def register(self, edge: dict[str, Any]) -> str:
        """Register by name, and give the edge's id; an edge of that name is this one."""
        reply = self._call("POST", "", edge, fine=(409,))
        if reply.status_code == 409:
            reply = self._call("GET", f"?{httpx.QueryParams(name=edge['name'])}")
            rows = self._json(reply).get("results") or []
            row: dict[str, Any] = next((row for row in rows if row.get("name") == edge["name"]), {})
        else:
            row = self._json(reply)
        if not isinstance(row.get("id"), int | str):
            raise self._failed("the platform gave this edge no id")
        if reply.status_code == 200 and row.get("url") != edge["url"]:  # it has moved since it registered
            self._call("PATCH", f"{row['id']}/", {"url": edge["url"]}, fine=(400, 403, 404, 405, 422))
        return str(row["id"])

    def report(self, edge: str, told: dict[str, Any]) -> None:
        """Report occupancy, load and outcomes."""
        self._call("POST", f"{edge}/report/", told)

    def plan(self, edge: str, after: str) -> Any | None:
        """Fetch the plan that follows `after`; None when there is none."""
        reply = self._call("GET", f"{edge}/plan/", query={"after": after} if after else {}, fine=(204, 304))
        if reply.status_code in (204, 304) or not reply.content:
            return None
        return self._json(reply) or None

    def result(self, edge: str, plan: str, told: dict[str, Any]) -> None:
        """Say what was done of a plan."""
        self._call("POST", f"{edge}/plan/{plan}/result/", told, fine=(404, 409))

    def close(self) -> None:
        """Hang up."""
        self._http.close()

    def _call(
        self,
        method: str,
        path: str,
        body: dict[str, Any] | None = None,
        fine: tuple[int, ...] = (),
        query: dict[str, str] | None = None,
    ) -> httpx.Response:
        if time.monotonic() < self._again_at:
            raise Unreachable("the platform is left alone for a moment")
        try:
            reply = self._http.request(method, path, json=body, params=query)
        except (httpx.HTTPError, ValueError) as problem:
            raise self._failed(f"the platform does not answer ({type(problem).__name__})") from problem
        if reply.status_code in (404, 410) and reply.status_code not in fine:
            raise Unknown(str(self._failed("the platform does not know this edge")))
        if not reply.is_success and reply.status_code not in fine:
            raise self._failed(f"{method} {reply.url.path} was refused with {reply.status_code}: {reply.text[:300]}")
        self._pause_s = 0.0
        return reply

    def _json(self, reply: httpx.Response) -> dict[str, Any]:
        try:
            told = reply.json()
        except ValueError as problem:
            raise self._failed("the platform does not answer in JSON") from problem
        return told if isinstance(told, dict) else {}

    def _failed(self, why: str) -> Unreachable:
        self._pause_s = min(LONGEST_PAUSE_S, max(1.0, self._pause_s * 2))
        self._again_at = time.monotonic() + self._pause_s
        return Unreachable(why)
