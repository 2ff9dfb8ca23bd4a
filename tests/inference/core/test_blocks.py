"""Blocks that match and blocks that do not."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.inference.core import blocks

SIZES = st.tuples(st.integers(1, 50), st.integers(1, 50), st.integers(1, 4), st.integers(4, 20))


@settings(deadline=None)
@given(size=SIZES, places=st.lists(st.tuples(st.integers(0, 49), st.integers(0, 49)), max_size=5), floats=st.booleans())
def test_exactly_the_blocks_with_a_changed_value_are_dirty(
    size: tuple[int, int, int, int], places: list[tuple[int, int]], floats: bool
) -> None:
    h, w, c, block = size
    reference = np.random.default_rng(0).integers(0, 255, size=(h, w, c)).astype(np.float32 if floats else np.uint8)
    frame, expected = reference.copy(), np.zeros(blocks.grid_shape(h, w, block), dtype=np.uint8)
    for y, x in places:
        frame[y % h, x % w, 0] = reference[y % h, x % w, 0] + 1
        expected[(y % h) // block, (x % w) // block] = 1
    assert np.array_equal(blocks.match_exact(frame, reference, block), expected)
    assert np.array_equal(blocks.match_budget(frame, reference, block, np.inf), expected)
    mask = blocks.expand(expected, block, h, w)
    assert np.array_equal(mask, np.kron(expected, np.ones((block, block), dtype=np.uint8))[:h, :w])
    blocks.renew(expected, frame, reference, block)
    assert np.array_equal(frame, reference)


@settings(deadline=None)
@given(size=SIZES, amount=st.integers(1, 60))
def test_psnr_is_the_textbook_one(size: tuple[int, int, int, int], amount: int) -> None:
    h, w, c, block = size
    rng = np.random.default_rng(amount)
    one = rng.integers(0, 256, size=(h, w, c), dtype=np.uint8)
    two = np.clip(one + rng.integers(-amount, amount + 1, size=one.shape), 0, 255).astype(np.uint8)
    got = blocks.psnr(one, two, block)
    for i in range(got.shape[0]):
        for j in range(got.shape[1]):
            part = np.s_[i * block : (i + 1) * block, j * block : (j + 1) * block]
            error = float(np.mean((one[part].astype(float) - two[part]) ** 2))
            assert np.isclose(got[i, j], 10 * np.log10(255**2 / error) if error else np.inf)


@settings(deadline=None)
@given(data=st.data(), least=st.integers(2, 3))
def test_merging_keeps_clean_only_what_a_clean_square_covers(data: st.DataObject, least: int) -> None:
    rows, cols = data.draw(st.integers(1, 7)), data.draw(st.integers(1, 7))
    flat = data.draw(st.lists(st.integers(0, 1), min_size=rows * cols, max_size=rows * cols))
    grid = np.array(flat, dtype=np.uint8).reshape(rows, cols)
    wide = np.pad(grid, least - 1)
    expected = np.ones_like(grid)
    for y in range(rows + least - 1):
        for x in range(cols + least - 1):
            if not wide[y : y + least, x : x + least].any():
                expected[max(0, y - least + 1) : y + 1, max(0, x - least + 1) : x + 1] = 0
    assert np.array_equal(blocks.merge(grid, least), expected)
    assert bool((blocks.merge(grid, least) >= grid).all())
