"""`manage.py bench answers|inference|segments|edge`: measure a cache, and write table, JSON and report."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from config import reports
from config.stack import children
from config.stack.postgres import Postgres
from config.stack.processes import site
from config.stack.valkey import Valkey

FOLDERS = {"answers": "questions", "inference": "video", "segments": "traces", "edge": "traces"}  # of the public data


class Command(BaseCommand):
    """Run a benchmark; what needs a database gets one of its own, which is thrown away."""

    help = "Measure a cache."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""
        parser.add_argument("cache", choices=["answers", "inference", "segments", "edge"])
        parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of public data sets")
        parser.add_argument("--json", type=Path, help="also write the rows here")
        parser.add_argument("--part", action="append", help="only this part; may be repeated")
        parser.add_argument("--quick", action="store_true", help="fewer seeds, entries and repetitions")
        parser.add_argument(
            "--inside", default="", help="used by the command itself: the address of the site under test"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Measure and report."""
        try:
            module = import_module(_module(options["cache"]))
        except ModuleNotFoundError as problem:
            if problem.name != _module(options["cache"]):
                raise
            raise CommandError(f"There is no benchmark of {options['cache']} yet.") from problem
        if options["inside"]:
            for row in module.run(
                options["data"],
                options["part"],
                quick=options["quick"],
                say=self._say,
                url=options["inside"],
                cache=settings.BASE_DIR / "var" / "bench",
            ):
                self.stdout.write(json.dumps(row))
                self.stdout.flush()  # the command outside keeps what it has heard, whatever happens here
            return
        known = getattr(module, "PARTS", ())
        if unknown := [part for part in options["part"] or () if part not in known]:
            raise CommandError(f"There is no part {unknown[0]!r}; there are {', '.join(known) or 'none'}.")
        rows: list[dict[str, Any]] = []
        try:
            rows.extend(self._rows(module, options))
        finally:  # what was measured before something broke, or before Ctrl-C, is told all the same
            if rows:
                self._report(reports.document(_command(options), rows, settings.BASE_DIR), options)

    def _rows(self, module: Any, options: dict[str, Any]) -> Iterator[dict[str, Any]]:
        if options["cache"] != "answers":
            folder = options["data"] / FOLDERS[options["cache"]]
            data = folder if folder.is_dir() else options["data"]
            some = {"names": options["part"]} if options["part"] else {}
            yield from module.run(data, **some, quick=options["quick"], say=self._say)
            return
        wanted = options["part"] or module.PARTS
        inside = [part for part in wanted if part in ("recall", "path")]
        outside = [part for part in wanted if part not in inside]
        yield from module.run(
            options["data"], outside, quick=options["quick"], say=self._say, cache=settings.BASE_DIR / "var" / "bench"
        )
        if inside:
            with throwaway_site() as url:
                yield from _inside(options, inside, url)

    def _report(self, report: dict[str, Any], options: dict[str, Any]) -> None:
        for name, rows in reports.parts(report["rows"]).items():
            self.stdout.write(f"\n{name}\n{reports.table(rows)}")
        folder = settings.BASE_DIR / "var" / "bench"
        folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(report, indent=1, default=float)
        (folder / f"{options['cache']}.json").write_text(text)
        (folder / f"{options['cache']}.html").write_text(reports.page(report))
        if options["json"]:
            options["json"].write_text(text)
        self.stdout.write(f"\nreport: {folder / options['cache']}.html")

    def _say(self, line: str) -> None:
        self.stderr.write(line)


def _module(cache: str) -> str:
    """Name the benchmark's package; the edge is wiring, not an app."""
    return "config.edge.bench" if cache == "edge" else f"apps.{cache}.bench"


def _command(options: dict[str, Any]) -> str:
    parts = [f"--part {part}" for part in options["part"] or ()]
    return " ".join(["manage.py bench", options["cache"], *parts, *(["--quick"] if options["quick"] else [])])


@contextmanager
def throwaway_site() -> Iterator[str]:
    """Run PostgreSQL, Valkey and one web process over a folder that is removed afterwards; yields the address."""
    var = settings.BASE_DIR / "var" / "bench" / f"site-{os.getpid()}"
    postgres, valkey, port = Postgres(var), Valkey(var), free_port()
    running: list[subprocess.Popen[bytes]] = []
    try:
        valkey.start()
        postgres.start()
        os.environ.update(DATABASE_URL=postgres.url, VALKEY_URL=valkey.url, TOUCHSTONE_VAR=str(var), PORT=str(port))
        os.environ.pop("CELERY_BROKER_URL", None)
        subprocess.run([sys.executable, "manage.py", "migrate", "--verbosity", "0"], cwd=settings.BASE_DIR, check=True)
        # The judge of the benchmark has an endpoint that nobody answers.
        os.environ.update(ANSWERS_JUDGE_URL="http://127.0.0.1:9/v1", ANSWERS_JUDGE_MODEL="dead")
        running = [children.start(process.command) for process in site(port) if process.name in ("web", "judge")]
        yield f"http://127.0.0.1:{port}"
    finally:
        for child in running:
            children.stop(child)
        postgres.stop()
        valkey.stop()
        shutil.rmtree(var, ignore_errors=True)


def free_port() -> int:
    """Find a port of this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _inside(options: dict[str, Any], parts: list[str], url: str) -> Iterator[dict[str, Any]]:
    """Measure in a fresh process that is connected to the throwaway database."""
    command = [sys.executable, "manage.py", "bench", options["cache"], "--data", str(options["data"]), "--inside", url]
    command += [word for part in parts for word in ("--part", part)] + (["--quick"] if options["quick"] else [])
    with subprocess.Popen(command, cwd=settings.BASE_DIR, stdout=subprocess.PIPE, text=True) as child:  # noqa: S603
        assert child.stdout is not None
        for line in child.stdout:
            if line.startswith("{"):
                yield json.loads(line)
    if child.returncode:
        raise CommandError("The benchmark broke off.")
