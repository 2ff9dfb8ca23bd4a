"""What the planner's policy knows before it starts: how viewers behave, learned from the first part of a trace."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from apps.segments.core.catalogue import Bools, Catalogue, Floats, Ints
from apps.segments.core.predictor.retention import LEAN, Retention, onward_of
from apps.segments.core.predictor.views import View
from apps.segments.core.simulator.trace import Trace

BINS = 50
EARLY = 3  # a session that starts before this segment starts anew; a later one resumes
FINISHED = 0.8  # from this share of a video on, a viewer may go on to the next
CHAIN_S = 3600.0  # what is started within this time after another video follows from it
# Ages of a stopped session, in s, between which the rate of coming back is constant.
AGES = np.array([0.0, 600, 3600, 4 * 3600, 12 * 3600, 24 * 3600, 36 * 3600, 48 * 3600, 96 * 3600, 168 * 3600])


@dataclass(frozen=True)
class Knowledge:
    """Behaviour of viewers in numbers.

    `survival` and `use`, one number a segment (Catalogue.place): the share of starters who reach it, and who play it.
    `mixing`: distance x rendition x rendition, how viewers change rendition; `usual`: the share of each rendition.
    `returning`: chance a second of coming back to a stopped video, for each span of AGES; `resumes`: whether those who
    come back mostly go on where they stopped. `chain`: video x video, the chance that one follows the other.
    """

    survival: Floats
    use: Floats
    mixing: Floats
    usual: Floats
    returning: Floats
    chain: Floats
    resumes: bool


@dataclass(frozen=True)
class Ends:
    """Sessions seen so far: which they are, first and last moment (s), first and last segment."""

    session: Ints
    began: Floats
    ended: Floats
    first: Ints
    last: Ints


def learn(trace: Trace, until: float) -> Knowledge:
    """Learn from all requests before a moment (s on the trace's clock)."""
    order = np.lexsort((np.arange(len(trace)), trace.session))
    order = order[trace.at[order] < until]
    ends = _ends(trace, order)
    returning, resumes = _returning(trace, ends, until)
    mixing, usual = _mixing(trace, order)
    survival, use = _survival(trace, order, ends)
    return Knowledge(survival, use, mixing, usual, returning, _chain(trace, ends), resumes)


def _ends(trace: Trace, order: Ints) -> Ends:
    session, index = trace.session[order], trace.catalogue.index[trace.row[order]]
    begins = np.flatnonzero(np.append(True, session[1:] != session[:-1]))
    stops = np.append(begins[1:], len(session)) - 1
    at = trace.at[order]
    return Ends(session[begins], at[begins], at[stops], index[begins], index[stops])


def _mixing(trace: Trace, order: Ints) -> tuple[Floats, Floats]:
    """Count, for distances that double, in which rendition a viewer is so many segments later; between, interpolate.

    A chain of single steps would forget too fast: who changes often changes back.
    """
    catalogue = trace.catalogue
    rungs, most = int(catalogue.renditions.max()), int(catalogue.lengths.max())
    session, rendition = trace.session[order], catalogue.rendition[trace.row[order]]
    usual = np.bincount(rendition, minlength=rungs) / max(1, len(rendition))
    known, found = [0], [np.eye(rungs)]
    while known[-1] < most:
        distance = max(1, 2 * known[-1])
        same = session[distance:] == session[:-distance]
        pairs = found[-1] * 10.0
        np.add.at(pairs, (rendition[:-distance][same], rendition[distance:][same]), 1.0)
        known.append(distance)
        found.append(pairs / pairs.sum(1, keepdims=True))
    flat = np.array(found).reshape(len(found), -1)
    far = np.log2(np.arange(most + 1) + 1.0)
    columns = [np.interp(far, np.log2(np.array(known) + 1.0), column) for column in flat.T]
    return np.ascontiguousarray(np.stack(columns, 1).reshape(most + 1, rungs, rungs)), usual


def _survival(trace: Trace, order: Ints, ends: Ends) -> tuple[Floats, Floats]:
    """Draw each video's retention curve, leaning on that of all videos where few have watched it."""
    lengths = trace.catalogue.lengths
    session, index = trace.session[order], trace.catalogue.index[trace.row[order]]
    videos = trace.sessions.video[ends.session]
    parts = np.split(index, np.flatnonzero(session[1:] != session[:-1]) + 1)
    views: dict[int, list[View]] = {video: [] for video in range(len(lengths))}
    for video, part in zip(videos.tolist(), parts, strict=True):
        views[video].append(View("", video, int(lengths[video]), part))
    everyone = [view for own in views.values() for view in own]
    pooled, played = Retention.fit(everyone), _played(everyone, np.full(BINS, 0.5), 1.0)
    survivals, uses = [], []
    for video, length in enumerate(lengths.tolist()):
        own = onward_of(views[video], pooled.onward(length))
        survivals.append(np.concatenate([[1.0], np.cumprod(own[:-1])]))
        uses.append(_played(views[video], played, LEAN)[np.arange(length) * BINS // length])
    return np.concatenate(survivals), np.concatenate(uses)


def _played(views: list[View], usual: Floats, lean: float) -> Floats:
    """Give the share of those who start a video anew that play each part of it, over BINS parts."""
    anew = [view for view in views if view.indices[0] < EARLY]
    played = usual * lean
    for view in anew:
        np.add.at(played, np.unique(view.indices) * BINS // view.length, BINS / view.length)
    return np.asarray(np.minimum(1.0, played / (len(anew) + lean)), np.float64)


def _returning(trace: Trace, ends: Ends, until: float) -> tuple[Floats, bool]:
    """Count, for each age of a stopped session, how many came back to where they had stopped."""
    viewer, video = trace.sessions.viewer[ends.session], trace.sessions.video[ends.session]
    order = np.lexsort((ends.began, video, viewer))
    now, then = order[:-1], order[1:]
    same = (viewer[now] == viewer[then]) & (video[now] == video[then])
    gap = np.full(len(order), until) - ends.ended
    gap[now[same]] = (ends.began[then] - ends.ended[now])[same]
    resumed = np.zeros(len(order), np.bool_)
    resumed[now[same]] = (ends.first[then] >= EARLY)[same]
    back = np.zeros(len(order), np.bool_)
    back[now[same]] = True
    stopped = ends.last < 0.9 * trace.catalogue.lengths[video]
    rates = np.zeros(len(AGES) - 1)
    for span, (low, high) in enumerate(pairwise(AGES)):
        exposed = (np.clip(gap[stopped], low, high) - low).sum()
        rates[span] = (resumed & stopped & (gap >= low) & (gap < high)).sum() / max(1.0, exposed)
    return rates, bool(resumed[back & stopped].mean() > 0.5) if (back & stopped).any() else True


def _chain(trace: Trace, ends: Ends, prior: float = 10.0) -> Floats:
    """Count which video follows which; where little was seen, lean on how often the next one in order follows."""
    videos = len(trace.catalogue.lengths)
    viewer, video = trace.sessions.viewer[ends.session], trace.sessions.video[ends.session]
    done: Bools = ends.last >= FINISHED * trace.catalogue.lengths[video] - 1
    order = np.lexsort((ends.began, viewer))
    now, then = order[:-1], order[1:]
    gap = ends.began[then] - ends.ended[now]
    follows = (viewer[now] == viewer[then]) & (video[now] != video[then]) & (gap >= 0) & (gap < CHAIN_S) & done[now]
    counts = np.zeros((videos, videos))
    np.add.at(counts, (video[now][follows], video[then][follows]), 1.0)
    tried = np.bincount(video[done], minlength=videos)[:, None]
    usual = np.trace(counts, offset=1) / max(1.0, tried.sum()) * np.eye(videos, k=1)
    chance = (counts + prior * usual) / (tried + prior)
    return np.where(chance < 0.02, 0.0, chance)


def following(catalogue: Catalogue) -> Ints:
    """Give for each row the next segment's row in the same rendition, or -1 at the end."""
    rows = np.arange(len(catalogue.sizes))
    return np.where(catalogue.index + 1 < catalogue.lengths[catalogue.video], rows + 1, -1)
