"""What predictors are worth on a trace's viewers: log-loss and waste at 95% recall against the retention curve."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from apps.segments.core import predictor
from apps.segments.core.catalogue import Floats
from apps.segments.core.predictor import Predictor, View
from apps.segments.core.simulator import Trace

COUNT = 10  # segments ahead: the next minute
MOST = 3000
RECALL = 0.95


def views(trace: Trace) -> list[View]:
    """Turn a trace's sessions into views."""
    order = np.lexsort((np.arange(len(trace)), trace.session))
    session, index = trace.session[order], trace.catalogue.index[trace.row[order]]
    cuts = [0, *(np.flatnonzero(session[1:] != session[:-1]) + 1).tolist(), len(session)]
    found = []
    for first, last in pairwise(cuts):
        number = int(session[first])
        video = int(trace.sessions.video[number])
        length = int(trace.catalogue.lengths[video])
        found.append(View(str(trace.sessions.viewer[number]), video, length, index[first:last]))
    return found


def lines(trace: Trace) -> Iterator[str]:
    """Tell in words, one line a model, how well it predicts viewers it has never seen."""
    seen, held_out = predictor.split(views(trace))
    retention = predictor.Retention.fit(seen)
    models: tuple[Predictor, ...] = (retention, predictor.Markov.fit(seen), predictor.fit(seen))
    for model in models:
        verdict = predictor.judge(model, retention, held_out, COUNT, MOST)
        yield (
            f"{trace.name} {trace.seed}, {model.name}: log-loss {verdict.loss:.4f} (retention {verdict.baseline:.4f}), "
            f"waste at 95% recall {waste(model, held_out):.3f} ({waste(retention, held_out):.3f}), "
            f"p99 {verdict.p99_ms:.2f} ms over {verdict.examples} decisions, serves: {verdict.serves}"
        )


def waste(model: Predictor, held_out: Sequence[View]) -> float:
    """Give the share of segments fetched in vain when fetching until 95% of those that were played were there."""
    cases = list(predictor.examples(held_out, COUNT))
    cases = cases[:: max(1, len(cases) // MOST)]
    chance: Floats = np.concatenate([model.predict(path, COUNT) for path, _ in cases])
    played: Floats = np.concatenate([label for _, label in cases])
    order = np.argsort(-chance, kind="stable")
    caught = np.cumsum(played[order])
    fetched = int(np.searchsorted(caught, RECALL * caught[-1])) + 1
    return float(1 - caught[fetched - 1] / fetched)
