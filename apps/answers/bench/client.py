"""A client so plain that it hardly counts: one socket, one request after the other."""

from __future__ import annotations

import json
import socket
import time
from dataclasses import dataclass
from urllib.parse import urlsplit

PATH = "/api/v1/answers/query/"


@dataclass(frozen=True, slots=True)
class Reply:
    """How long one request took, in milliseconds, how much of that was embedding, and what came of it."""

    ms: float
    embed_ms: float
    outcome: str

    @property
    def hit(self) -> bool:
        """Say whether an answer was served."""
        return self.outcome in {"static_hit", "dynamic_hit"}


class Client:
    """One connection to the site."""

    def __init__(self, url: str, key: str) -> None:
        where = urlsplit(url)
        self._socket = socket.create_connection((where.hostname or "127.0.0.1", where.port or 80), timeout=60)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        lines = [f"POST {PATH} HTTP/1.1", f"Host: {where.netloc}", f"Authorization: Bearer {key}"]
        self._head = "\r\n".join([*lines, "Content-Type: application/json", "Content-Length: "])

    def ask(self, question: str) -> Reply:
        """Ask one question.

        Raises:
            RuntimeError: the site answers anything but 200.
        """
        body = json.dumps({"question": question}).encode()
        request = f"{self._head}{len(body)}\r\n\r\n".encode() + body
        started = time.perf_counter()
        self._socket.sendall(request)
        status, content = self._read()
        spent = (time.perf_counter() - started) * 1e3
        if status != 200:
            raise RuntimeError(f"the site answered {status}: {content[:200]!r}")
        served = json.loads(content)
        return Reply(spent, served["timings_ms"].get("embed", 0.0), served["outcome"])

    def close(self) -> None:
        """Hang up."""
        self._socket.close()

    def _read(self) -> tuple[int, bytes]:
        """Read one reply with a Content-Length, which all replies of this path have."""
        held = b""
        while b"\r\n\r\n" not in held:
            held += self._more()
        head, _, content = held.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        length = next(int(line.split(":")[1]) for line in lines if line.lower().startswith("content-length:"))
        while len(content) < length:
            content += self._more()
        return int(lines[0].split()[1]), content

    def _more(self) -> bytes:
        part = self._socket.recv(65_536)
        if not part:
            raise RuntimeError("the site hung up")
        return part
