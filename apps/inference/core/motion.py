"""One movement for the whole frame: diamond search per block, a mean in two passes (DeepCache, section 4.2).

A movement (dy, dx) says that frame[y, x] shows what reference[y - dy, x - dx] showed.
"""

import numpy as np
import numpy.typing as npt

from apps.inference.core.blocks import Bytes, Frame, grid_shape
from apps.inference.core.native import native

REACH = 16
_IMAGE = "uint8[:,:,::1]"


@native(f"int64({_IMAGE},{_IMAGE},int64,int64,int64,int64,int64,int64)")
def _error(frame, reference, y, x, block, dy, dx, best):  # type: ignore[no-untyped-def]
    """Sum of squares of a block against the reference at an offset; stops when above the best so far."""
    total = np.int64(0)
    if y - dy < 0 or x - dx < 0 or y - dy + block > frame.shape[0] or x - dx + block > frame.shape[1]:
        return np.int64(2**62)
    n = block * frame.shape[2]
    for row in range(0, block, 2):
        a = frame[y + row, x : x + block].reshape(n)
        b = reference[y + row - dy, x - dx : x - dx + block].reshape(n)
        part = np.int32(0)
        for i in range(n):
            d = np.int32(a[i]) - np.int32(b[i])
            part = np.int32(part + np.int32(d * d))
        total += part
        if total >= best:
            break
    return total


@native(f"void({_IMAGE},{_IMAGE},int64,int64,int64,int64,int64[::1])")
def _diamond(frame, reference, y, x, block, reach, found):  # type: ignore[no-untyped-def]
    """Large diamond until its centre is best, then the small one; found becomes (dy, dx, error)."""
    large = ((-2, 0), (-1, -1), (-1, 1), (0, -2), (0, 2), (1, -1), (1, 1), (2, 0))
    small = ((-1, 0), (0, -1), (0, 1), (1, 0))
    dy, dx = np.int64(0), np.int64(0)
    best = _error(frame, reference, y, x, block, dy, dx, np.int64(2**62))
    for _ in range(2 * reach):
        my, mx = dy, dx
        for oy, ox in large:
            if abs(dy + oy) <= reach and abs(dx + ox) <= reach:
                error = _error(frame, reference, y, x, block, dy + oy, dx + ox, best)
                if error < best:
                    best, my, mx = error, dy + oy, dx + ox
        if my == dy and mx == dx:
            break
        dy, dx = my, mx
    cy, cx = dy, dx
    for oy, ox in small:
        error = _error(frame, reference, y, x, block, cy + oy, cx + ox, best)
        if error < best:
            best, dy, dx = error, cy + oy, cx + ox
    found[0], found[1], found[2] = dy, dx, best


@native(f"int64({_IMAGE},{_IMAGE},uint8[:,::1],int64,int64,int64[:,::1])")
def _vectors(frame, reference, grid, block, most, result):  # type: ignore[no-untyped-def]
    """Vectors of dirty whole blocks, thinned evenly to at most `most`."""
    rows, cols = frame.shape[0] // block, frame.shape[1] // block
    dirty = np.int64(0)
    for i in range(rows):
        for j in range(cols):
            dirty += grid[i, j]
    step, seen, n = max(np.int64(1), -(-dirty // most)), np.int64(0), np.int64(0)
    for i in range(rows):
        for j in range(cols):
            if grid[i, j] != 0:
                if seen % step == 0:
                    _diamond(frame, reference, i * block, j * block, block, REACH, result[n])
                    n += 1
                seen += 1
    return n


def estimate(frame: Frame, reference: Frame, grid: Bytes, block: int, psnr_db: float) -> tuple[int, int]:
    """The frame's movement (dy, dx) in whole pixels, from the blocks that do not match in place; (0, 0) if none.

    Only blocks that match well somewhere (PSNR in dB) vote; a second mean leaves out votes far from the first.
    """
    most = 128
    result = np.zeros((most + 1, 3), dtype=np.int64)
    n = _vectors(frame, reference, grid, block, most, result)
    samples = -(-block // 2) * block * frame.shape[2]
    good = result[:n][result[:n, 2] <= samples * 255.0**2 / 10 ** (psnr_db / 10)][:, :2].astype(np.float64)
    if len(good) < 4:
        return 0, 0
    return _two_means(good)


def _two_means(votes: npt.NDArray[np.float64]) -> tuple[int, int]:
    mean = votes.mean(axis=0)
    spread = np.maximum(votes.std(axis=0), 1.0)
    kept = votes[(np.abs(votes - mean) <= spread).all(axis=1)]
    mean = kept.mean(axis=0) if len(kept) else mean
    return round(float(mean[0])), round(float(mean[1]))


def shifted(reference: Frame, move: tuple[int, int]) -> Frame:
    """The reference moved by (dy, dx); what the movement uncovers is zero."""
    result = np.zeros_like(reference)
    (to_y, from_y), (to_x, from_x) = (_spans(n, d) for n, d in zip(reference.shape[:2], move, strict=True))
    result[to_y, to_x] = reference[from_y, from_x]
    return result


def _spans(size: int, move: int) -> tuple[slice, slice]:
    return slice(max(move, 0), size + min(move, 0)), slice(max(-move, 0), size - max(move, 0))


def uncover(grid: Bytes, block: int, height: int, width: int, move: tuple[int, int]) -> Bytes:
    """The grid with every block dirty that a movement uncovers in part."""
    rows, cols = grid_shape(height, width, block)
    result = grid.copy()
    (keep_y, _), (keep_x, _) = _spans(height, move[0]), _spans(width, move[1])
    top, left = np.arange(rows) * block, np.arange(cols) * block
    bottom, right = np.minimum(top + block, height), np.minimum(left + block, width)
    result[(top < keep_y.start) | (bottom > keep_y.stop), :] = 1
    result[:, (left < keep_x.start) | (right > keep_x.stop)] = 1
    return result
