"""`manage.py demo --questions FILE`: drive real questions through the running site, and watch it learn."""

from __future__ import annotations

import re
import sys
import time
from argparse import ArgumentParser
from collections import Counter, deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from config.demo import Oracle, Site, SiteError, Traffic, read, traffic
from config.demo.traffic import answer_of
from config.management.commands.sample import read_environment

RECENT = 500
BUDGET = 0.02
THRESHOLDS = ("tau_static", "tau_dynamic", "sigma_min")


@dataclass(slots=True)
class Seen:
    """What the site served so far, and lately."""

    outcomes: Counter[str] = field(default_factory=Counter)
    golden: int = 0
    wrong: int = 0
    recent: deque[bool] = field(default_factory=lambda: deque(maxlen=RECENT))
    missed: set[str] = field(default_factory=set)

    def add(self, reply: dict[str, Any], truth: str) -> None:
        """Count one reply; `truth` is the answer that would be right."""
        self.outcomes[reply["outcome"]] += 1
        self.golden += reply["origin"] == "golden"
        self.wrong += reply["answer"] not in {None, truth}
        self.recent.append(reply["origin"] == "golden")

    def line(self, waiting: int) -> str:
        """Say it in one line."""
        asked = sum(self.outcomes.values())
        if not asked:
            return "nothing was asked"
        hits = self.outcomes["static_hit"] + self.outcomes["dynamic_hit"]
        late = sum(self.recent) / len(self.recent)
        return (
            f"{asked} asked | golden {self.golden / asked:.1%} (of the last {len(self.recent)}: {late:.1%})"
            f" | static {self.outcomes['static_hit']} dynamic {self.outcomes['dynamic_hit']}"
            f" miss {self.outcomes['miss']} | hits {hits / asked:.1%} | wrong {self.wrong / asked:.1%}"
            f" | queue {waiting}"
        )


class Command(BaseCommand):
    """Make a namespace from one part of a file of questions, then ask the rest, popular ones often."""

    help = "Stream questions (CSV: text,category) through the running site; ends by itself or on Ctrl-C."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""
        parser.add_argument("--questions", type=Path, required=True, help="a CSV file with the columns text,category")
        parser.add_argument("--namespace", help="default: the name of the file's folder")
        parser.add_argument("--rate", type=float, default=20, help="questions a second")
        parser.add_argument("--count", type=int, default=3000, help="how many questions")
        parser.add_argument("--seconds", type=float, help="stop after so long")
        parser.add_argument(
            "--oracle", action="store_true", help="judge near misses by category, like a perfect person"
        )
        parser.add_argument("--seed", type=int, default=1, help="which questions are popular")
        parser.add_argument("--url", help="default: TOUCHSTONE_URL of var/demo.env")
        parser.add_argument("--key", help="default: TOUCHSTONE_KEY of var/demo.env")

    def handle(self, *args: Any, **options: Any) -> None:
        """Prepare the namespace, then ask."""
        if options["rate"] <= 0 or options["count"] < 1:
            raise CommandError("--rate and --count must be positive.")
        try:
            rows = read(options["questions"])
        except (OSError, ValueError) as problem:
            raise CommandError(str(problem)) from problem
        site = self._site(options)
        try:
            drawn = traffic(rows, site.namespace, options["count"], options["seed"])
            self._prepare(site, drawn)
            self._stream(site, drawn, options)
        except SiteError as problem:
            raise CommandError(str(problem)) from problem
        except KeyboardInterrupt:
            self.stdout.write("\nstopped")
        finally:
            site.close()

    def _site(self, options: dict[str, Any]) -> Site:
        known = read_environment(settings.VAR / "demo.env")
        url, key = options["url"] or known.get("TOUCHSTONE_URL"), options["key"] or known.get("TOUCHSTONE_KEY")
        if not url or not key:
            raise CommandError(
                f"{settings.VAR / 'demo.env'} is not there; run `make up` first, or give --url and --key."
            )
        path: Path = options["questions"].resolve()
        name = options["namespace"] or (path.parent.name if path.stem in {"train", "test"} else path.stem)
        return Site(url, key, re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-._")[:63] or "demo")

    def _prepare(self, site: Site, drawn: Traffic) -> None:
        """Make the namespace, publish golden answers, teach the judge, take the thresholds it proposes."""
        site.change_policy({"error_budget": BUDGET, "verifications_per_minute": 6_000})
        told = site.publish(drawn.golden)
        self.stdout.write(
            f"namespace {site.namespace}: {told['created']} golden answers published, {told['unchanged']} were there"
        )
        if not drawn.pairs:
            return
        proposal = site.teach(drawn.pairs, BUDGET)["proposal"]
        self.stdout.write(f"{len(drawn.pairs)} labelled pairs sent; {proposal['note'] or 'thresholds proposed'}")
        if all(proposal[name] is not None for name in THRESHOLDS):
            site.change_policy({name: proposal[name] for name in THRESHOLDS})
            self.stdout.write(", ".join(f"{name} {proposal[name]:.3f}" for name in THRESHOLDS))

    def _stream(self, site: Site, drawn: Traffic, options: dict[str, Any]) -> None:
        """Ask at an even pace and tell once a second how it goes."""
        seen, oracle = Seen(), Oracle(site, drawn) if options["oracle"] else None
        started = told = time.monotonic()
        try:
            for number, question in enumerate(drawn.questions):
                due = started + number / options["rate"]
                if options["seconds"] and due - started >= options["seconds"]:
                    break
                time.sleep(max(0.0, due - time.monotonic()))
                self._ask(site, drawn, question, seen, oracle)
                if time.monotonic() - told >= (1 if sys.stdout.isatty() else 10):
                    told = time.monotonic()
                    self._tell(seen.line(oracle.waiting() if oracle else site.queued()))
        finally:
            if oracle:
                oracle.finish(patience_s=2)
                self.stdout.write(f"\nthe oracle approved {oracle.approved} and rejected {oracle.rejected}")
            self.stdout.write(seen.line(oracle.waiting() if oracle else 0))

    def _ask(self, site: Site, drawn: Traffic, question: str, seen: Seen, oracle: Oracle | None) -> None:
        reply = site.ask(question)
        truth = answer_of(drawn.truth(question) or "")
        seen.add(reply, truth)
        if oracle:
            oracle.hear(question, reply["verification"])
        # A client's answer beats a later promotion, so what waits for a verdict is filled only when it misses again.
        if reply["outcome"] == "miss" and (not reply["verification"] or question in seen.missed):
            site.fill(reply["id"], truth)
        elif reply["outcome"] == "miss":
            seen.missed.add(question)

    def _tell(self, line: str) -> None:
        if sys.stdout.isatty():
            self.stdout.write(f"\r\x1b[K{line}", ending="")
            self.stdout.flush()
        else:
            self.stdout.write(line)
