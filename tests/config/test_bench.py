"""`manage.py bench`: what is missing is said, rows are written as JSON and as a page without outside help."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from config import reports
from config.management.commands import bench

PATH: dict[str, Any] = {"part": "path", "case": "exact", "entries": 1000, "clients": 1}
ROWS: list[dict[str, Any]] = [
    {**PATH, "system": "touchstone", "p50_ms": 2.5, "note": None},
    {**PATH, "system": "gptcache <b>", "p50_ms": 6.25, "note": None},
    {"part": "recall", "entries": 1000, "namespaces": 1, "recall_at_1": 1.0, "p50_ms": 0.5},
]


def test_an_unknown_part_is_refused_by_name() -> None:
    with pytest.raises(CommandError, match="nonsense"):
        call_command("bench", "answers", part=["nonsense"])


def test_a_benchmark_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(bench, "import_module", missing)
    with pytest.raises(CommandError, match="segments"):
        call_command("bench", "segments")


def test_rows_go_to_the_terminal_to_json_and_to_a_page(tmp_path: Path, settings: Any) -> None:
    settings.BASE_DIR = tmp_path
    pairs = tmp_path / "gsc_banking_adversarial"
    pairs.mkdir()
    lines = [
        {
            "query": "Can I not use the card abroad?",
            "cached_query": "Can I use the card abroad?",
            "expected_cache_hit": False,
        },
        {"query": "Where is my card?", "cached_query": "Where is my card", "expected_cache_hit": True},
    ]
    (pairs / "pairs.jsonl").write_text("\n".join(json.dumps(line) for line in lines))
    told = io.StringIO()
    call_command("bench", "answers", data=tmp_path, part=["pairs"], json=tmp_path / "out.json", stdout=told)
    written = json.loads((tmp_path / "out.json").read_text())
    assert set(written) == {"command", "commit", "machine", "rows"}
    assert [(row["guards"], row["wrong_hits"]) for row in written["rows"]] == [("off", 1.0), ("on", 0.0)]
    assert set(written["rows"][0]) == {"part", "data", "guards", "wrong_hits", "right_hits", "traps", "paraphrases"}
    assert (tmp_path / "var" / "bench" / "answers.html").exists()
    assert "wrong_hits" in told.getvalue()


def test_what_was_measured_before_it_broke_is_written(
    tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Breaking:
        PARTS = ("pairs",)

        @staticmethod
        def run(*args: Any, **options: Any) -> Iterator[dict[str, Any]]:
            yield {"part": "pairs", "wrong_hits": 0.25}
            raise RuntimeError("it broke")

    settings.BASE_DIR = tmp_path
    monkeypatch.setattr(bench, "import_module", lambda name: Breaking)
    with pytest.raises(RuntimeError, match="it broke"):
        call_command("bench", "answers", json=tmp_path / "out.json", stdout=io.StringIO())
    written = json.loads((tmp_path / "out.json").read_text())
    assert (written["command"], written["rows"]) == (
        "manage.py bench answers",
        [{"part": "pairs", "wrong_hits": 0.25}],
    )


def test_the_page_needs_nothing_from_outside_and_escapes_what_it_shows(tmp_path: Path) -> None:
    page = reports.page(reports.document("manage.py bench answers", ROWS, tmp_path))
    assert not re.search(r"(?:src|href)=|https?://(?!www\.w3\.org)", page)
    assert "<svg" in page
    assert "gptcache &lt;b&gt;" in page and "<b>" not in page


def test_shares_at_equal_error_are_drawn_as_one_line_a_policy(tmp_path: Path) -> None:
    rows = [
        {"part": "equal_error", "data": data, "per_class": 1, "error": error, "policy": policy, "static_share": share}
        for data in ("banking77", "hwu64")
        for policy, share in (("static", 0.2), ("touchstone", 0.6))
        for error in (0.01, 0.02, 0.05)
    ]
    page = reports.page(reports.document("manage.py bench answers", rows, tmp_path))
    assert page.count("<polyline") == 4
    assert page.count("<figure>") == 2
    assert "banking77, 1 golden a class" in page


def test_the_table_is_as_wide_as_it_needs_and_says_what_is_not_there() -> None:
    lines = reports.table(ROWS[:2]).splitlines()
    assert len({len(line) for line in lines}) == 1
    assert lines[1].split()[-2:] == ["2.5", "-"]
    assert reports.shown(0.123456) == "0.1235"
