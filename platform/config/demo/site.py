"""The running site as a client sees it: one address, one key, nothing else is ever talked to."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import httpx

TRIES = 5


class SiteError(Exception):
    """The site refused a request or does not answer; the message says what it said."""


class Site:
    """Calls the answers API of one site with one key."""

    def __init__(self, url: str, key: str, namespace: str) -> None:
        self.namespace = namespace
        self.url = url
        headers = {"Authorization": f"Bearer {key}"}
        self._client = httpx.Client(
            base_url=f"{url.rstrip('/')}/api/v1/answers/", headers=headers, timeout=60, trust_env=False
        )

    def change_policy(self, patch: dict[str, Any]) -> dict[str, Any]:
        """Change the namespace's policy; the first change makes the namespace."""
        return self._call("PATCH", f"policies/{self.namespace}/", json=patch)

    def publish(self, lines: str) -> dict[str, Any]:
        """Import golden answers from JSON lines and put them in force."""
        return self._call(
            "POST", "golden/import/?publish=true", content=lines, headers={"Content-Type": "application/x-ndjson"}
        )

    def teach(self, pairs: Sequence[dict[str, Any]], error_budget: float) -> dict[str, Any]:
        """Send labelled pairs, on which the offline judge is fitted; returns the calibration they make."""
        body = {"namespace": self.namespace, "error_budget": error_budget, "pairs": list(pairs)}
        return self._call("POST", "calibrations/", json=body)

    def ask(self, question: str) -> dict[str, Any]:
        """Ask one question; a miss is left to this client."""
        return self._call("POST", "query/", json={"question": question, "namespace": self.namespace, "lookaside": True})

    def fill(self, query: str, answer: str) -> None:
        """Bring the answer to a question that missed; somebody may have been quicker."""
        self._call("POST", f"query/{query}/fill/", json={"answer": answer}, fine=(409,))

    def verification(self, key: str) -> dict[str, Any] | None:
        """Read a near miss that waits for a verdict; None when it was dropped meanwhile."""
        return self._call("GET", f"verifications/{key}/", fine=(404,)) or None

    def override(self, key: str, verdict: str) -> None:
        """Decide a near miss as a person would."""
        body = {"verdict": verdict, "reason": "the demo knows the category"}
        self._call("POST", f"verifications/{key}/override/", json=body, fine=(404,))

    def queued(self) -> int:
        """Count the near misses that wait for the judge, up to 500."""
        query = {"namespace": self.namespace, "status": "queued", "page_size": "500"}
        return len(self._call("GET", "verifications/", params=query)["results"])

    def close(self) -> None:
        """Hang up."""
        self._client.close()

    def _call(self, method: str, path: str, fine: Sequence[int] = (), **request: Any) -> dict[str, Any]:
        """Make a request, again a little later when the site is busy; nothing is read from replies that are `fine`.

        Raises:
            SiteError: the site does not answer, or refuses.
        """
        for attempt in range(TRIES):
            try:
                reply = self._client.request(method, path, **request)
            except httpx.TransportError as problem:
                raise SiteError(f"{self.url} does not answer ({problem}); is the site running?") from problem
            if reply.status_code in fine:
                return {}
            if reply.is_success:
                return dict(reply.json())
            if reply.status_code not in {429, 503} or attempt == TRIES - 1:
                break
            time.sleep(min(float(reply.headers.get("Retry-After", 1)), 10))
        raise SiteError(f"{method} {reply.url.path} was refused with {reply.status_code}: {reply.text[:500]}")
