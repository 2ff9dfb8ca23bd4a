"""Questions for the path: stored ones, near ones and strangers, none of which was asked before."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from apps.answers.bench.questions import banking77, hwu64, made, pool
from apps.answers.core.embedding import MiniLM
from apps.answers.core.text import digest

ROWS = 'text,category\nHow do I locate my card?,card_arrival\n"Where,  is it?",card_arrival\nWhy a fee?,fees\n'


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "banking77"
    folder.mkdir()
    for name in ("train.csv", "test.csv"):
        (folder / name).write_text(ROWS)
    return tmp_path


def test_banking77_is_read_from_both_files(data: Path) -> None:
    texts, classes = banking77(data / "banking77")
    assert (len(texts), set(classes)) == (6, {"card_arrival", "fees"})


def test_hwu64_pairs_lines_with_labels(tmp_path: Path) -> None:
    for name in ("train", "valid", "test"):
        (tmp_path / f"{name}.seq.in").write_text("play jazz\nis it hot\n")
        (tmp_path / f"{name}.label").write_text("music\nweather\n")
    assert hwu64(tmp_path) == (["play jazz", "is it hot"] * 3, ["music", "weather"] * 3)


def test_the_pool_holds_each_question_once_and_vectors_come_from_disk_the_second_time(data: Path) -> None:
    first = pool(data, 10, data / "cache")
    assert first.texts == ["How do I locate my card?", "Where, is it?", "Why a fee?"]
    assert len(list((data / "cache").glob("vectors-*.npy"))) == 1
    assert np.array_equal(pool(data, 10, data / "cache").vectors, first.vectors)


def test_near_questions_are_new_each_time_and_near_enough_to_hit(tmp_path: Path) -> None:
    known = pool(tmp_path, 20, None)
    asked = [known.next("semantic") for _ in range(60)]
    assert len({digest(text) for text in asked}) == 60
    similar = MiniLM().embed(asked) @ known.vectors.T
    assert (similar.max(axis=1) >= 0.85).mean() > 0.9
    assert {known.next("exact") for _ in range(20)} == set(known.texts)
    assert len({known.next("miss") for _ in range(50)}) == 50


def test_without_data_questions_are_made(tmp_path: Path) -> None:
    texts, classes = made()
    assert len(texts) == len(set(texts)) == len(classes) >= 900
    known = pool(tmp_path, 20, None)
    assert known.store(100) == 20
    texts, cloud = known.filler(100)
    assert (len(texts), cloud.shape) == (80, (80, 384))
    assert np.allclose(np.linalg.norm(cloud, axis=1), 1, atol=1e-5)
    assert known.filler(10)[0] == []
