"""GPTCache beside us: over the same questions, and left out in plain words where it cannot be had."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from apps.answers.bench import peer
from apps.answers.bench.questions import pool


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Any) -> Path:
    monkeypatch.setattr(peer, "CHECKOUT", tmp_path)
    settings.VAR = tmp_path / "var"
    return tmp_path


def test_without_its_packages_it_is_left_out_and_said(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peer, "PACKAGES", (str(home / "there-is-no-such-wheel.whl"),))
    said: list[str] = []
    with peer.started(pool(home, 5, None), 5, said.append) as other:
        assert other is None
    assert "cannot be installed" in said[-1]


def test_a_program_that_does_not_start_is_left_out_with_its_last_words(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = home / "broken.py"
    broken.write_text("raise SystemExit('no engine')")
    monkeypatch.setattr(peer, "PROGRAM", broken)
    monkeypatch.setattr(peer, "_environment", lambda say: Path(sys.executable))
    said: list[str] = []
    with peer.started(pool(home, 5, None), 5, said.append) as other:
        assert other is None
    assert "no engine" in said[-1]


def test_it_is_given_every_entry_and_its_replies_are_read(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = home / "stand_in.py"
    program.write_text(
        "import json, sys\nfrom pathlib import Path\nimport numpy as np\n"
        "folder = Path(sys.argv[1])\n"
        "known = json.loads((folder / 'questions.json').read_text())\n"
        "assert len(known) == len(np.load(folder / 'vectors.npy')) == 12\n"
        "print(json.dumps({'filled': len(known)}), flush=True)\n"
        "for line in sys.stdin:\n"
        "    hit = json.loads(line)['ask'] in known\n"
        "    print(json.dumps({'ms': 3.0, 'embed_ms': 1.0, 'hit': hit}), flush=True)\n"
    )
    monkeypatch.setattr(peer, "PROGRAM", program)
    monkeypatch.setattr(peer, "_environment", lambda say: Path(sys.executable))
    known = pool(home, 5, None)
    with peer.started(known, 12, print) as other:
        assert other is not None
        assert [other.ask(text).hit for text in (known.texts[0], "something else")] == [True, False]
    assert not (home / "var" / "gptcache").exists()


def test_the_program_never_constructs_an_embedder_of_gptcache() -> None:
    code = (peer.PROGRAM).read_text()
    assert "gptcache.embedding" not in code
    assert "max_size" in code  # by default everything beyond 1,000 entries is thrown away


def test_no_module_beside_the_program_hides_one_of_the_standard_library() -> None:
    assert not {path.stem for path in peer.PROGRAM.parent.glob("*.py")} & sys.stdlib_module_names - {"__init__"}
