"""Addresses of a plan become keys of the cache, or are refused: the agent fetches nothing outside its origin."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote_to_bytes, urlsplit

from apps.segments.core import manifest

LONGEST = 2000
CONTROL = re.compile(rb"[\x00-\x1f\x7f\\]")


class Refused(ValueError):
    """An address that this edge does not fetch; the message says why."""


@dataclass(frozen=True, slots=True)
class Target:
    """A segment: `path` as it is asked for, `key` as nginx keys it, and the decoded `place` that a pin is named by."""

    path: str
    key: str
    place: str

    @classmethod
    def of(cls, key: str) -> Target:
        """Find the segment behind a key of this edge's own cache."""
        place, asked, query = key.partition("?")
        return cls(quote(place.encode("utf-8", "surrogateescape")) + asked + query, key, place)

    @property
    def digest(self) -> str:
        """Give the name of the segment's file."""
        return digest(self.key)


@dataclass(frozen=True, slots=True)
class Allowed:
    """The origin whose segments this edge may hold, and the paths they lie under."""

    origin: str
    prefixes: tuple[str, ...] = ("/media/",)

    def target(self, url: object) -> Target:
        """Read an address, absolute or from the root; raises Refused."""
        if not isinstance(url, str) or not url or len(url) > LONGEST:
            raise Refused(f"an address has 1 to {LONGEST} characters")
        try:
            parts = urlsplit(manifest.resolve(url, f"{self.origin}/", self.origin))
        except manifest.BrokenManifest as problem:
            raise Refused(str(problem)) from None
        place = unquote_to_bytes(parts.path)
        if CONTROL.search(place) or b"//" in place or re.search(rb"/\.{1,2}(/|$)", place):
            raise Refused("an address with dots, empty parts or control characters in its path")
        known = place.decode("utf-8", "surrogateescape")
        if not known.startswith(self.prefixes) or known.endswith("/"):
            raise Refused(f"an address outside {', '.join(self.prefixes)}")
        query = f"?{parts.query}" if parts.query else ""
        if "CMCD=" in query:
            raise Refused("an address with CMCD in it")
        return Target(parts.path + query, known + query, known)


def digest(key: str) -> str:
    """Give the file name that nginx gives a key."""
    return hashlib.md5(key.encode("utf-8", "surrogateescape"), usedforsecurity=False).hexdigest()


def file_of(zone: Path, name: str) -> Path:
    """Find a key's file in a zone with levels=1:2."""
    return zone / name[-1] / name[-3:-1] / name
