"""`manage.py demo` against the real site: golden answers made from history, and a share that rises."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from apps.answers import sample
from apps.answers.models import GoldenAnswer, Label, Namespace, Query, Verification
from config.demo import read, traffic
from config.demo.site import Site as Client
from config.demo.site import SiteError
from tests import factories
from tests.conftest import Site, free_port


def write(path: Path, rows: list[tuple[str, str]]) -> Path:
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["text", "category"])
        out.writerows(rows)
    return path


def lumen() -> list[tuple[str, str]]:
    """Questions of the sample with the golden answer they mean as category."""
    return [
        (text, f"{row.topic}_{number}")
        for number, row in enumerate(sample.answers()[:16])
        for text in (row.question, *row.aliases, *row.same, *row.paraphrases)
    ]


def test_a_stream_repeats_popular_questions_and_its_history_makes_the_golden_answers() -> None:
    drawn = traffic(lumen(), "lumen", 400, seed=3)
    assert len(drawn.questions) == 400
    assert len(set(drawn.questions)) < 130
    golden = drawn.golden.splitlines()
    assert 8 <= len(golden) <= 16
    assert all('"namespace": "lumen"' in line for line in golden)
    assert {pair["same"] for pair in drawn.pairs} <= {True, False}
    for pair in drawn.pairs:
        assert pair["same"] == (drawn.truth(pair["question"]) == drawn.truth(pair["golden_question"]))


def test_the_same_seed_draws_the_same_stream() -> None:
    assert traffic(lumen(), "lumen", 50, seed=5) == traffic(lumen(), "lumen", 50, seed=5)
    assert traffic(lumen(), "lumen", 50, seed=5).questions != traffic(lumen(), "lumen", 50, seed=6).questions


def test_questions_that_are_no_text_or_there_twice_are_left_out(tmp_path: Path) -> None:
    path = write(tmp_path / "q.csv", [("Is it on?", "a"), ("is it  ON?", "a"), ("", "a"), ("What is it?", "")])
    assert read(path) == [("is it  ON?", "a")]


@pytest.mark.parametrize("content", ["question,label\na,b\n", "text,category\n", ""])
def test_a_file_without_questions_is_refused_by_name(tmp_path: Path, content: str) -> None:
    path = tmp_path / "wrong.csv"
    path.write_text(content)
    with pytest.raises(ValueError, match=r"wrong\.csv"):
        read(path)


def test_without_a_running_site_the_command_says_so(tmp_path: Path, settings: Any) -> None:
    settings.VAR = tmp_path
    path = write(tmp_path / "q.csv", lumen())
    with pytest.raises(CommandError, match="make up"):
        call_command("demo", questions=path)
    with pytest.raises(CommandError, match="is the site running"):
        call_command("demo", questions=path, url=f"http://127.0.0.1:{free_port()}", key="ts_x", count=10)


def test_a_missing_file_and_senseless_numbers_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="nowhere"):
        call_command("demo", questions=tmp_path / "nowhere.csv")
    with pytest.raises(CommandError, match="positive"):
        call_command("demo", questions=tmp_path / "nowhere.csv", rate=0)


@pytest.mark.stack
def test_with_an_oracle_the_golden_share_rises_and_nothing_else_is_touched(site: Site, tmp_path: Path) -> None:
    caller, secret = factories.key()
    site.start_web()
    path = write(tmp_path / "lumen.csv", lumen())
    told = io.StringIO()
    call_command("demo", questions=path, url=site.url, key=secret, oracle=True, count=300, rate=60, stdout=told)

    namespace = Namespace.objects.get(name="lumen")
    assert GoldenAnswer.objects.filter(namespace=namespace, status="published").count() >= 8
    assert Label.objects.filter(namespace=namespace, source="upload").exists()
    assert not Query.objects.exclude(namespace=namespace).exists()
    assert Verification.objects.filter(judged_by=caller.name, verdict="APPROVE").count() > 3
    rows = list(Query.objects.order_by("created_at").values_list("origin", flat=True))
    assert len(rows) == 300
    assert rows[200:].count("golden") > rows[:100].count("golden")
    assert re.search(r"300 asked \| golden \d+", told.getvalue())


@pytest.mark.stack
def test_it_stops_in_time_and_a_second_run_goes_on_where_it_was(site: Site, tmp_path: Path) -> None:
    _, secret = factories.key()
    site.start_web()
    path = write(tmp_path / "lumen.csv", lumen())
    told = io.StringIO()
    options: dict[str, Any] = {"url": site.url, "key": secret, "namespace": "again", "rate": 20, "stdout": told}
    call_command("demo", questions=path, seconds=1, **options)
    assert Query.objects.count() == 20
    call_command("demo", questions=path, seconds=0.5, **options)
    assert Query.objects.count() == 30
    assert "0 golden answers published" in told.getvalue()


@pytest.mark.stack
def test_a_bad_key_is_refused_in_plain_words(site: Site) -> None:
    site.start_web()
    client = Client(site.url, "ts_wrong", "default")
    with pytest.raises(SiteError, match="401"):
        client.ask("Is it on?")
    client.close()
