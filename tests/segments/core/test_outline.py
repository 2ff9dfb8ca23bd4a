"""Outlines: points with times and prerequisites, or a reason why not."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.segments.core import outline


def test_points_are_ordered_and_found_by_time() -> None:
    points = outline.read([
        {"title": "b", "start": 10, "end": 20, "prerequisites": ["a"]},
        {"title": "a", "start": 0, "end": 10},
    ])  # fmt: skip
    assert [point.title for point in points] == ["a", "b"]
    assert outline.at(points, 10) == points[1]
    assert outline.at(points, 25) is None
    assert outline.read([point.told() for point in points]) == points


@pytest.mark.parametrize(
    "points",
    [
        {},
        [7],
        [{"title": "", "start": 0, "end": 1}],
        [{"title": "a", "start": 1, "end": 1}],
        [{"title": "a", "start": "0", "end": 1}],
        [{"title": "a", "start": 0, "end": float("nan")}],
        [{"title": "a", "start": 0, "end": 1, "prerequisites": ["a"]}],
        [{"title": "a", "start": 0, "end": 1}, {"title": "a", "start": 1, "end": 2}],
        [{"title": "a", "start": 0, "end": 1}] * 501,
    ],
)
def test_what_cannot_be_meant_is_refused(points: Any) -> None:
    with pytest.raises(outline.BrokenOutline):
        outline.read(points)


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(), lambda c: st.lists(c) | st.dictionaries(st.text(), c)
    )
)
def test_reading_ends_with_points_or_a_reason(value: Any) -> None:
    with suppress(outline.BrokenOutline):
        assert isinstance(outline.read(value), list)
