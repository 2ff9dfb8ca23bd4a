"""Kill every part the hard way, under load: what was acknowledged is there afterwards."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from config.stack.postgres import Postgres
from tests.conftest import wait_for
from tests.up import ROOT, Up

pytestmark = pytest.mark.stack


def test_nothing_acknowledged_is_lost_when_any_part_is_killed(tmp_path: Path) -> None:
    up = Up(tmp_path / "var")
    try:
        up.wait_until_ready()
        assert oct((up.var / "demo.env").stat().st_mode & 0o777) == "0o600"
        load = Load(up)
        for word in ("celery", "valkey-server", "uvicorn", "postgres"):
            time.sleep(1.5)
            for pid in up.processes(word)[:1] if word == "postgres" else up.processes(word):
                os.kill(pid, signal.SIGKILL)
            time.sleep(1.5)
            wait_for(up.ready, 90, up.log)
        load.stop()
        assert len(load.queries) > 100
        assert load.missing() == []
        again = subprocess.run(
            [sys.executable, "-m", "config.stack"],
            cwd=ROOT,
            env=up.environment,
            capture_output=True,
            text=True,
            check=True,
        )
        assert "already running" in again.stdout
    finally:
        up.stop()
    assert up.processes("") == []


class Load:
    """Ask and fill without pause, and remember every id that the site acknowledged."""

    def __init__(self, up: Up) -> None:
        self.up = up
        self.queries: list[str] = []
        self.entries: list[str] = []
        self.going = True
        demo = up.demo()
        self.headers = {"Authorization": f"Bearer {demo['TOUCHSTONE_KEY']}"}
        self.threads = [threading.Thread(target=self._run, args=(number,)) for number in range(4)]
        for thread in self.threads:
            thread.start()

    def stop(self) -> None:
        """Stop asking."""
        self.going = False
        for thread in self.threads:
            thread.join()

    def missing(self) -> list[str]:
        """List what was acknowledged and is not in the database."""
        server = Postgres(self.up.var)
        with psycopg.connect(host=server.host, user=server.user, dbname=server.database) as connection:
            lost = []
            for table, ids in (("answers_query", self.queries), ("answers_entry", self.entries)):
                rows = connection.execute(f"SELECT id::text FROM {table} WHERE id = ANY(%s::uuid[])", [ids]).fetchall()  # type: ignore[arg-type]
                lost += sorted(set(ids) - {row[0] for row in rows})
            return lost

    def _run(self, number: int) -> None:
        with httpx.Client(base_url=self.up.url, headers=self.headers, timeout=10) as client:
            turn = 0
            while self.going:
                turn += 1
                try:
                    self._once(client, f"Is {number} times {turn} a question nobody asked?")
                except (httpx.HTTPError, json.JSONDecodeError, KeyError):
                    time.sleep(0.05)

    def _once(self, client: httpx.Client, question: str) -> None:
        asked: Any = client.post("/api/v1/answers/query/", json={"question": question}).raise_for_status().json()
        self.queries.append(asked["id"])
        filled = client.post(f"/api/v1/answers/query/{asked['id']}/fill/", json={"answer": "It is."})
        if filled.status_code == 201:
            self.entries.append(filled.json()["id"])
