from __future__ import annotations

import pytest

from apps.segments.core import catalogue


def test_every_row_knows_its_video_rendition_and_index() -> None:
    found = catalogue.of([2, 3], [2, 1], [10, 11, 12, 13, 20, 21, 22])
    for row in range(7):
        place = int(found.video[row]), int(found.index[row]), int(found.rendition[row])
        assert found.row(*place) == row
    assert found.place.tolist() == [0, 2, 5]


@pytest.mark.parametrize(("video", "index", "rendition"), [(2, 0, 0), (-1, 0, 0), (0, 2, 0), (0, -1, 0), (1, 0, 1)])
def test_a_segment_that_is_not_there_has_no_row(video: int, index: int, rendition: int) -> None:
    with pytest.raises(IndexError):
        catalogue.of([2, 3], [2, 1], [1] * 7).row(video, index, rendition)


@pytest.mark.parametrize(("lengths", "renditions", "sizes"), [([2], [1], [1]), ([0], [1], []), ([1, 1], [1], [1])])
def test_a_catalogue_that_does_not_add_up_is_refused(
    lengths: list[int], renditions: list[int], sizes: list[int]
) -> None:
    with pytest.raises(ValueError, match=r"size|length"):
        catalogue.of(lengths, renditions, sizes)
