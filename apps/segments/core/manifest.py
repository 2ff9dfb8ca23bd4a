"""HLS playlists (RFC 8216) read without ever leaving the allowed origin."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import SplitResult, urljoin, urlsplit

MAX_CHARACTERS = 10_000_000
MAX_ENTRIES = 100_000
ATTRIBUTE = re.compile(r'([A-Z0-9-]+)=("[^"\r\n]*"|[^",\s][^,]*|)(?:,|$)')
PORTS = {"http": 80, "https": 443}
Attributes = dict[str, str]


class BrokenManifest(ValueError):
    """A playlist that cannot be read, or one that points outside its origin."""


@dataclass(frozen=True)
class Variant:
    """One rendition of a master playlist; `bandwidth` in bits per second."""

    url: str
    bandwidth: int
    width: int = 0
    height: int = 0


@dataclass(frozen=True)
class MediaSegment:
    """One segment of a media playlist; `start` and `seconds` in seconds, `byterange` as (length, offset)."""

    url: str
    index: int
    start: float
    seconds: float
    byterange: tuple[int, int] | None = None


@dataclass(frozen=True)
class Playlist:
    """A master playlist (variants) or a media playlist (segments); `init` lists initialisation sections."""

    url: str
    variants: list[Variant] = field(default_factory=list)
    segments: list[MediaSegment] = field(default_factory=list)
    init: list[str] = field(default_factory=list)
    ended: bool = False

    @property
    def seconds(self) -> float:
        """Give the playing time of a media playlist in seconds."""
        return sum(segment.seconds for segment in self.segments)


def origin_of(url: str) -> str:
    """Give scheme, host and port of an HTTP address; raises BrokenManifest for every other kind of address."""
    parts = _split(url)
    port = _port(parts)
    host = parts.hostname or ""
    if parts.scheme not in PORTS or not host or port == 0:
        raise BrokenManifest(f"Not an HTTP address: {url[:200]!r}.")
    if parts.username is not None or parts.password is not None:
        raise BrokenManifest("Addresses with a user name or password are refused.")
    return f"{parts.scheme}://{f'[{host}]' if ':' in host else host}:{port}"


def resolve(reference: str, base: str, origin: str) -> str:
    """Resolve a reference of a playlist against the playlist's address; raises when it leaves `origin`.

    Control characters, blanks and backslashes are refused, since readers of addresses disagree about them.
    """
    if not reference or re.search(r"[\x00-\x20\x7f\\]", reference):
        raise BrokenManifest(f"Unsafe address in the playlist: {reference[:200]!r}.")
    try:
        url = urljoin(base, reference)
    except ValueError as problem:
        raise BrokenManifest(f"Unreadable address in the playlist: {reference[:200]!r}.") from problem
    if origin_of(url) != origin_of(origin):
        raise BrokenManifest(f"The playlist points outside {origin_of(origin)}: {reference[:200]!r}.")
    return url.split("#", 1)[0]


def parse(text: str, url: str, origin: str | None = None) -> Playlist:
    """Read a playlist that came from `url`; every address in it must lie in `origin` (default: that of `url`).

    Raises BrokenManifest with the number of the line.
    """
    allowed = origin_of(origin or url)
    if origin_of(url) != allowed:
        raise BrokenManifest(f"The playlist itself lies outside {allowed}.")
    if len(text) > MAX_CHARACTERS:
        raise BrokenManifest(f"Playlists may have {MAX_CHARACTERS:,} characters at most.")
    lines = [line.strip() for line in text.removeprefix("\ufeff").splitlines()]
    if not lines or lines[0] != "#EXTM3U":
        raise BrokenManifest("Line 1: a playlist starts with #EXTM3U.")
    reading = _Reading(Playlist(url), allowed)
    for number, line in enumerate(lines[1:], start=2):
        try:
            reading.take(line)
        except (ValueError, OverflowError) as problem:
            raise BrokenManifest(f"Line {number}: {problem}") from problem
    if not reading.playlist.variants and not reading.playlist.segments:
        raise BrokenManifest("The playlist lists neither renditions nor segments.")
    return Playlist(url, reading.playlist.variants, reading.playlist.segments, reading.playlist.init, reading.ended)


class _Reading:
    """What is known while the lines of a playlist go by."""

    def __init__(self, playlist: Playlist, origin: str) -> None:
        self.playlist, self.origin = playlist, origin
        self.seconds: float | None = None
        self.stream: Attributes | None = None
        self.byterange: tuple[int, int] | None = None
        self.start, self.offset, self.ended = 0.0, 0, False

    def take(self, line: str) -> None:
        """Take one line."""
        tag, _, value = line.partition(":")
        if tag == "#EXTINF":
            self.seconds = _duration(value.split(",")[0])
        elif tag == "#EXT-X-STREAM-INF":
            self.stream = attributes(value)
        elif tag == "#EXT-X-BYTERANGE":
            self.byterange = self._range(value)
        elif tag in ("#EXT-X-MAP", "#EXT-X-KEY", "#EXT-X-MEDIA", "#EXT-X-I-FRAME-STREAM-INF"):
            self._other(tag, attributes(value))
        elif tag == "#EXT-X-ENDLIST":
            self.ended = True
        elif line and not line.startswith("#"):
            self._address(resolve(line, self.playlist.url, self.origin))

    def _other(self, tag: str, found: Attributes) -> None:
        if "URI" in found:
            url = resolve(found["URI"], self.playlist.url, self.origin)
            if tag == "#EXT-X-MAP":
                self.playlist.init.append(url)

    def _address(self, url: str) -> None:
        if self.stream is not None:
            width, _, height = self.stream.get("RESOLUTION", "0x0").partition("x")
            bandwidth = int(self.stream.get("BANDWIDTH", "0"))
            self.playlist.variants.append(Variant(url, bandwidth, int(width), int(height)))
        elif self.seconds is not None:
            index = len(self.playlist.segments)
            segment = MediaSegment(url, index, self.start, self.seconds, self.byterange)
            self.playlist.segments.append(segment)
            self.start += self.seconds
        else:
            raise BrokenManifest("an address without #EXTINF or #EXT-X-STREAM-INF before it.")
        if len(self.playlist.segments) + len(self.playlist.variants) > MAX_ENTRIES:
            raise BrokenManifest(f"more than {MAX_ENTRIES:,} entries.")
        self.seconds = self.stream = self.byterange = None

    def _range(self, value: str) -> tuple[int, int]:
        length, _, offset = value.partition("@")
        start = int(offset) if offset else self.offset
        self.offset = start + int(length)
        if int(length) <= 0 or start < 0:
            raise BrokenManifest(f"impossible byte range {value[:60]!r}.")
        return int(length), start


def attributes(value: str) -> Attributes:
    """Read an attribute list (RFC 8216, section 4.2); quotes are taken off."""
    return {name: text.strip('"') for name, text in ATTRIBUTE.findall(value)}


def _duration(text: str) -> float:
    seconds = float(text)
    if not 0 < seconds <= 3600:
        raise BrokenManifest(f"a segment of {text[:20]} seconds.")
    return seconds


def _split(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError as problem:
        raise BrokenManifest(f"Unreadable address: {url[:200]!r}.") from problem


def _port(parts: SplitResult) -> int:
    try:
        return parts.port or PORTS.get(parts.scheme, 0)
    except ValueError as problem:
        raise BrokenManifest("Unreadable port in an address.") from problem
