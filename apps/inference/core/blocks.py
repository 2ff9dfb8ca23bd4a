"""Frames divided into blocks, matched with the reference that made the cached features (DeepCache, section 4.2).

Grids are uint8 (blocks down, blocks across), 1 where a block is dirty. Frames are bytes (height, width, channels) or
floats of the same layout; the last blocks of a row or column may be smaller.
"""

import numpy as np
import numpy.typing as npt

from apps.inference.core.native import native

Bytes = npt.NDArray[np.uint8]
Frame = npt.NDArray[np.generic]
_LINES = "uint8[:,::1]"
_GRID = "uint8[:,::1]"


def grid_shape(height: int, width: int, block: int) -> tuple[int, int]:
    """Blocks down and across."""
    return -(-height // block), -(-width // block)


def lines(frame: Frame) -> Bytes:
    """A contiguous frame's bytes as (height, bytes of a row), without copying."""
    return frame.reshape(frame.shape[0], -1).view(np.uint8)


@native(f"boolean({_LINES},{_LINES},int64)")
def _row_differs(one, two, y):  # type: ignore[no-untyped-def]
    a, b = one[y], two[y]
    words = a.size // 8
    p, q = a[: words * 8].view(np.uint64), b[: words * 8].view(np.uint64)
    mixed = np.uint64(0)
    for i in range(words):
        mixed |= p[i] ^ q[i]
    for i in range(words * 8, a.size):
        mixed |= np.uint64(a[i] ^ b[i])
    return mixed != 0


@native(f"int64({_LINES},{_LINES},int64,int64,{_GRID})")
def _exact(one, two, block, pixel, grid):  # type: ignore[no-untyped-def]
    dirty = 0
    span = block * pixel
    for y in range(one.shape[0]):
        if not _row_differs(one, two, y):
            continue
        row = grid[y // block]
        for j in range(row.size):
            if row[j] == 0:
                a, b = one[y, j * span : (j + 1) * span], two[y, j * span : (j + 1) * span]
                mixed = np.uint8(0)
                for i in range(a.size):
                    mixed |= a[i] ^ b[i]
                if mixed != 0:
                    row[j] = 1
                    dirty += 1
    return dirty


def match_exact(frame: Frame, reference: Frame, block: int) -> Bytes:
    """Grid of the blocks that differ from the reference in any bit."""
    grid = np.zeros(grid_shape(frame.shape[0], frame.shape[1], block), dtype=np.uint8)
    one, two = lines(frame), lines(reference)
    _exact(one, two, block, one.shape[1] // frame.shape[1], grid)
    return grid


@native("void(uint8[:,::1],uint8[:,::1],int64,int64,int64[:,::1])")
def _squares_bytes(one, two, block, pixel, sums):  # type: ignore[no-untyped-def]
    span = block * pixel
    for y in range(one.shape[0]):
        if not _row_differs(one, two, y):
            continue
        row = sums[y // block]
        for j in range(row.size):
            a, b = one[y, j * span : (j + 1) * span], two[y, j * span : (j + 1) * span]
            total = np.int32(0)
            for i in range(a.size):
                d = np.int32(a[i]) - np.int32(b[i])
                total = np.int32(total + np.int32(d * d))
            row[j] += total


@native("void(float32[:,::1],float32[:,::1],int64,int64,float64[:,::1])", reorder=True)
def _squares_floats(one, two, block, pixel, sums):  # type: ignore[no-untyped-def]
    span = block * pixel
    for y in range(one.shape[0]):
        row = sums[y // block]
        for j in range(row.size):
            a, b = one[y, j * span : (j + 1) * span], two[y, j * span : (j + 1) * span]
            total = np.float32(0)
            for i in range(a.size):
                total += (a[i] - b[i]) * (a[i] - b[i])
            row[j] += total


def psnr(frame: Frame, reference: Frame, block: int) -> npt.NDArray[np.float64]:
    """PSNR in dB of every block against the reference; infinite where equal. Floats peak at their range."""
    shape = grid_shape(frame.shape[0], frame.shape[1], block)
    pixel = frame.shape[2]
    one, two = frame.reshape(frame.shape[0], -1), reference.reshape(frame.shape[0], -1)
    if frame.dtype == np.uint8:
        sums = np.zeros(shape, dtype=np.int64)
        _squares_bytes(one, two, block, pixel, sums)
        peak = 255.0
    else:
        sums = np.zeros(shape, dtype=np.float64)
        _squares_floats(one, two, block, pixel, sums)
        peak = float(np.ptp(two)) or 1.0
    with np.errstate(divide="ignore"):
        return np.asarray(10.0 * np.log10(peak**2 * _samples(frame, block) / sums))


def _samples(frame: Frame, block: int) -> npt.NDArray[np.float64]:
    """Samples in every block; those at the right and lower edge may be smaller."""
    height, width, channels = frame.shape
    rows, cols = grid_shape(height, width, block)
    high = np.minimum(block, height - block * np.arange(rows))
    wide = np.minimum(block, width - block * np.arange(cols))
    return np.asarray(np.outer(high, wide) * channels, dtype=np.float64)


def match_budget(frame: Frame, reference: Frame, block: int, psnr_db: float) -> Bytes:
    """Grid of the blocks whose PSNR against the reference is below a threshold in dB."""
    return (psnr(frame, reference, block) < psnr_db).astype(np.uint8)


@native(f"void({_GRID},int64,{_GRID})")
def _merge(grid, least, result):  # type: ignore[no-untyped-def]
    rows, cols = grid.shape
    for top in range(1 - least, rows):
        for left in range(1 - least, cols):
            y0, y1, x0, x1 = max(top, 0), min(top + least, rows), max(left, 0), min(left + least, cols)
            dirty = 0
            for y in range(y0, y1):
                for x in range(x0, x1):
                    dirty |= grid[y, x]
            if dirty == 0:
                result[y0:y1, x0:x1] = 0


def merge(grid: Bytes, least: int = 2) -> Bytes:
    """The grid with lone clean blocks made dirty: a clean region narrower than `least` blocks erodes away anyway.

    A clean block stays when some least x least square of clean blocks holds it (blocks beyond the edge count as
    clean, since nothing erodes from there).
    """
    result = np.ones_like(grid)
    _merge(grid, least, result)
    return result


@native("void(uint8[:,::1],int64,uint8[:,::1])")
def _expand(grid, block, mask):  # type: ignore[no-untyped-def]
    for y in range(mask.shape[0]):
        for j in range(grid.shape[1]):
            if grid[y // block, j] != 0:
                mask[y, j * block : (j + 1) * block] = 1


def expand(grid: Bytes, block: int, height: int, width: int) -> Bytes:
    """The grid as a mask of pixels (height, width)."""
    mask = np.zeros((height, width), dtype=np.uint8)
    _expand(grid, block, mask)
    return mask


@native("int64(uint8[:,::1],uint8[:,::1],uint8[:,::1],int64,int64)")
def _renew(grid, frame, reference, block, pixel):  # type: ignore[no-untyped-def]
    span = block * pixel
    for y in range(frame.shape[0]):
        row = grid[y // block]
        for j in range(row.size):
            if row[j] != 0:
                reference[y, j * span : (j + 1) * span] = frame[y, j * span : (j + 1) * span]
    return 0


def renew(grid: Bytes, frame: Frame, reference: Frame, block: int) -> None:
    """Copy the dirty blocks of a frame into the reference."""
    one, two = lines(frame), lines(reference)
    _renew(grid, one, two, block, one.shape[1] // frame.shape[1])
