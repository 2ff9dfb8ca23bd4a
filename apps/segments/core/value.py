"""What a segment is worth to an edge: its expected discounted next access, E[exp(-T / tau)].

T is the time to the segment's next request. It comes from the viewers who are behind the segment now, each of whom
survives to it with the retention curve's probability, and, after them, from viewers who will start the video: a Poisson
stream at its start rate, thinned by retention. tau is the edge's measured turn-over time, so a byte is kept for as long
as LRU would have kept it, but for those who will come. WorldCache's multipliers go on top.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numba import njit

from apps.segments.core.catalogue import Bools, Catalogue, Floats, Ints, Kind

NEGLIGIBLE = 1e-4  # a remaining probability or discount below this ends the walk to farther viewers


@dataclass(frozen=True)
class Crowd:
    """The viewers who are watching: last requested segment, and how long ago in seconds; one number a viewer."""

    video: Ints
    rendition: Ints
    index: Ints
    idle_s: Floats

    def __len__(self) -> int:
        """Count the viewers."""
        return len(self.video)


def crowd(viewers: list[tuple[int, int, int, float]]) -> Crowd:
    """Build a crowd from (video, rendition, index, idle seconds) of each viewer."""
    columns = [list(column) for column in zip(*viewers, strict=True)] or [[], [], [], []]
    whole = [np.array(column, np.int64) for column in columns[:3]]
    return Crowd(whole[0], whole[1], whole[2], np.array(columns[3], np.float64))


@dataclass(frozen=True)
class Demand:
    """What is known about future viewers.

    `survival`: the share of starters who reach a segment, one number a segment (Catalogue.place), 1 at the first;
    `start_rate`: starts a second, videos x renditions, as wide as the most renditions.
    `returning`: arrivals a second at each segment of those who stopped earlier, segments x renditions (see `returns`).
    """

    survival: Floats
    start_rate: Floats
    patience_s: float = 120.0  # the time constant with which an idle viewer is given up
    returning: Floats | None = None


@dataclass(frozen=True)
class Values:
    """For each row: its value (0 to 1 before multipliers), the seconds to its next expected viewer, where from.

    `soon_s` is infinite where nobody is behind; `coming` counts the expected viewers now on their way; `starts` is the
    part of the value that comes from future starts.
    """

    value: Floats
    soon_s: Floats
    coming: Floats
    starts: Floats


def next_access(catalogue: Catalogue, crowd: Crowd, demand: Demand, tau_s: float) -> Values:
    """Value every row of a catalogue: E[exp(-T / tau)], in a few milliseconds for 100,000 rows and 5,000 viewers."""
    if tau_s <= 0:
        raise ValueError("The turn-over time must be positive.")
    rows = (
        catalogue.base[crowd.video] + crowd.rendition * catalogue.lengths[crowd.video] + crowd.index
        if len(crowd)
        else np.zeros(0, np.int64)
    )
    order = np.lexsort((-crowd.idle_s, rows))
    first = np.searchsorted(rows[order], np.arange(len(catalogue.sizes) + 1))
    result = _next_access(
        catalogue.lengths,
        catalogue.renditions,
        first,
        np.ascontiguousarray(crowd.idle_s[order]),
        demand.survival,
        demand.start_rate,
        np.zeros((len(demand.survival), demand.start_rate.shape[1])) if demand.returning is None else demand.returning,
        (float(catalogue.segment_s), float(tau_s), float(demand.patience_s)),
    )
    return Values(*result)


@njit(cache=True)  # type: ignore[untyped-decorator, unused-ignore]
def _next_access(lengths, renditions, first, idle, survival, start_rate, returning, times):  # type: ignore[no-untyped-def]
    segment_s, tau, patience = times
    rows = len(first) - 1
    value, soon = np.zeros(rows), np.full(rows, np.inf)
    coming, starts = np.zeros(rows), np.zeros(rows)
    row, place = 0, 0
    for video in range(len(lengths)):
        length = lengths[video]
        for rendition in range(renditions[video]):
            rate = start_rate[video, rendition]
            for index in range(length):
                left = 1.0
                step = index - 1
                while step >= 0 and left > NEGLIGIBLE:
                    discount = np.exp(-(index - step - 1) * segment_s / tau)
                    if discount < NEGLIGIBLE:
                        break
                    there = row + step
                    reach = survival[place + index] / max(survival[place + step], 1e-12)
                    for viewer in range(first[there], first[there + 1]):
                        # One who paused may go on at any moment: as if the segment had just been played to its end.
                        wait = (index - step) * segment_s - min(idle[viewer], segment_s)
                        stays = reach * np.exp(-max(0.0, idle[viewer] - segment_s) / patience)
                        value[row + index] += left * stays * np.exp(-wait / tau)
                        left *= 1.0 - stays
                        coming[row + index] += stays
                        soon[row + index] = min(soon[row + index], wait)
                    step -= 1
                arrivals, back = rate * survival[place + index], returning[place + index, rendition]
                # Who returns may come at once, who starts not before the video has played so far: two Poisson streams.
                gone = np.exp(-(back + 1.0 / tau) * index * segment_s)
                later = gone * (arrivals + back) / (arrivals + back + 1.0 / tau)
                starts[row + index] = left * (later + (1.0 - gone) * back / (back + 1.0 / tau))
                value[row + index] += starts[row + index]
            row += length
        place += length
    return value, soon, coming, starts


def returns(catalogue: Catalogue, stopped: Crowd, survival: Floats, rates: Ints | Floats, ages_s: Floats) -> Floats:
    """Give Demand.returning: arrivals a second of viewers who stopped and may come back to where they were.

    `rates` are their chances a second of coming back, one for each span between two of `ages_s` (s since they stopped);
    who comes back goes on as far as the retention curve (`survival`, one number a segment) says.
    """
    found = np.zeros((len(survival), int(catalogue.renditions.max(initial=1))))
    span = np.searchsorted(ages_s, stopped.idle_s, side="right") - 1
    inside = (span >= 0) & (span < len(rates))
    where = (catalogue.place[stopped.video] + stopped.index)[inside]
    np.add.at(found, (where, stopped.rendition[inside]), np.asarray(rates, np.float64)[span[inside]])
    for video, length in enumerate(catalogue.lengths.tolist()):
        part = slice(int(catalogue.place[video]), int(catalogue.place[video]) + length)
        curve = np.maximum(survival[part], 1e-12)[:, None]
        found[part] = np.cumsum(found[part] / curve, axis=0) * curve
    return found


@dataclass(frozen=True)
class Multipliers:
    """WorldCache's editable factors; a factor of 1 switches one off."""

    density: float = 0.3  # education: 1 + this x knowledge density
    first_minute: float = 1.2
    exercise: float = 1.5
    tags: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Traits:
    """What the multipliers look at, one number a row: density and continuity 0 to 1, exercises, tags by name."""

    density: Floats
    continuity: Floats
    exercise: Bools
    tags: dict[str, Bools] = field(default_factory=dict)


def plain_traits(catalogue: Catalogue) -> Traits:
    """Give traits that change nothing but the first minute."""
    rows = len(catalogue.sizes)
    return Traits(np.zeros(rows), np.ones(rows), np.zeros(rows, np.bool_))


def adjustment(catalogue: Catalogue, traits: Traits, multipliers: Multipliers | None = None) -> Floats:
    """Multiply the factors that apply to each row.

    Education: 1 + 0.3 x knowledge density. Film: the continuity factor. First minute: 1.2. Exercise and tags: theirs.
    """
    chosen = multipliers or Multipliers()
    kind = catalogue.kinds[catalogue.video]
    factor = np.where(kind == Kind.EDUCATION, 1 + chosen.density * traits.density, 1.0)
    factor = np.where(kind == Kind.FILM, factor * traits.continuity, factor)
    factor = np.where(catalogue.index * catalogue.segment_s < 60, factor * chosen.first_minute, factor)
    factor = np.where(traits.exercise, factor * chosen.exercise, factor)
    for tag, weight in chosen.tags.items():
        if tag in traits.tags:
            factor = np.where(traits.tags[tag], factor * weight, factor)
    return np.asarray(factor, np.float64)


def source_score(probability: Floats, sizes: Ints, factor: Floats, age_s: Floats) -> Floats:
    """Score as WorldCache prints it: probability x size x adjustment / sqrt(age), age in seconds since last use.

    Behaves much like LRU; here for comparison.
    """
    return np.asarray(probability * sizes * factor / np.sqrt(np.maximum(age_s, 1.0)), np.float64)
