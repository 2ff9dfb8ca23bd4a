"""Single pictures from clients: their size is read before anything decodes them."""

import struct

import cv2
import numpy as np
import numpy.typing as npt

Image = npt.NDArray[np.uint8]
MAX_BYTES = 16 * 2**20
MAX_SIDE = 8192
MAX_PIXELS = 40 * 2**20
_PNG = b"\x89PNG\r\n\x1a\n"
# Start-of-frame markers of JPEG; C4, C8 and CC are others.
_FRAMES = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})


class PictureError(ValueError):
    """Not a JPEG or PNG picture this door takes; the message says why."""


def size_of(data: bytes) -> tuple[int, int]:
    """(width, height) by the picture's header; PictureError when it is no JPEG or PNG, or too large."""
    if not data:
        raise PictureError("The picture is empty.")
    if len(data) > MAX_BYTES:
        raise PictureError(f"The picture has {len(data)} bytes; at most {MAX_BYTES} are taken.")
    size = _png(data) if data.startswith(_PNG) else _jpeg(data)
    if size is None or min(size) < 1:
        raise PictureError("This is no JPEG or PNG picture.")
    if max(size) > MAX_SIDE or size[0] * size[1] > MAX_PIXELS:
        raise PictureError(f"The picture is {size[0]}x{size[1]}; at most {MAX_SIDE} a side are taken.")
    return size


def decode(data: bytes) -> Image:
    """RGB (height, width, 3); PictureError when it is broken."""
    size_of(data)
    found = cv2.imdecode(np.frombuffer(data, dtype=np.uint8), cv2.IMREAD_COLOR_RGB)
    if found is None:
        raise PictureError("The picture is broken.")
    return np.asarray(found, dtype=np.uint8)


def _png(data: bytes) -> tuple[int, int] | None:
    if len(data) < 24 or data[12:16] != b"IHDR":
        return None
    width, height = struct.unpack(">II", data[16:24])
    return width, height


def _jpeg(data: bytes) -> tuple[int, int] | None:
    """Walk the segments up to the frame's header."""
    if data[:2] != b"\xff\xd8":
        return None
    at = 2
    while at + 9 < len(data) and data[at] == 0xFF:
        kind = data[at + 1]
        if kind == 0xFF:
            at += 1
            continue
        if kind in _FRAMES:
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return width, height
        if kind == 0xDA:
            return None
        at += 2 + struct.unpack(">H", data[at + 2 : at + 4])[0]
    return None
