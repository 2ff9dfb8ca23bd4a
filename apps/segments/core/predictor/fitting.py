"""Train the trajectory transformer on views: minutes of one core at most, stopped where unseen viewers stop gaining."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

import numpy as np

from apps.segments.core.catalogue import Floats
from apps.segments.core.predictor.retention import Retention
from apps.segments.core.predictor.trajectory import Inputs, Trajectory, forward, initial, read
from apps.segments.core.predictor.views import MODEL_SEGMENTS, View, examples, split

MOST_EXAMPLES = 30_000
BATCH, EPOCHS, PATIENCE, RATE, DECAY = 256, 20, 3, 2e-3, 1e-2
Data = tuple[Inputs, Floats, Floats]


def fit(views: Sequence[View], seed: int = 0, renew: Callable[[], object] = lambda: None) -> Trajectory:
    """Fit a model; a tenth of the viewers say when to stop.

    Args:
        views: what was watched.
        seed: draws the first weights and the order of the examples.
        renew: called after every pass over the examples.

    Raises:
        ValueError: nothing in the views lies ahead of anything.
    """
    import torch  # only workers have need of it

    kept, checked = split(views, held_out=0.1)
    curve = Retention.fit(kept)
    learn, check = _data(kept, curve), _data(checked or kept, curve)
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    weights = {name: torch.tensor(each, dtype=torch.float32) for name, each in initial(seed).items()}
    for each in weights.values():
        each.requires_grad_(True)
    optimiser = torch.optim.AdamW(list(weights.values()), lr=RATE, weight_decay=DECAY)
    examples_in, examples_out = _tensors(torch, learn), _tensors(torch, check)
    best = (_checked(torch, weights, examples_out), _copy(weights))
    waited = 0
    for _ in range(EPOCHS):
        order = torch.randperm(len(examples_in[0]))
        for batch in torch.split(order, BATCH):
            optimiser.zero_grad()
            _loss(torch, weights, [column[batch] for column in examples_in]).backward()
            optimiser.step()
        renew()
        now = _checked(torch, weights, examples_out)
        best, waited = ((now, _copy(weights)), 0) if now < best[0] else (best, waited + 1)
        if waited == PATIENCE:
            break
    return Trajectory(best[1], curve)


def _data(views: Sequence[View], curve: Retention) -> Data:
    """Lay out decisions with their labels (n x 20, 0 or 1) and which of those lie inside the video (0 or 1)."""
    total = sum(-(-len(view.indices) // 3) for view in views)
    cases = list(islice(examples(views), 0, None, max(1, total // MOST_EXAMPLES)))
    if not cases:
        raise ValueError("There is nothing to learn from in these views.")
    label, inside = np.zeros((2, len(cases), MODEL_SEGMENTS))
    for place, (_path, told) in enumerate(cases):
        label[place, : len(told)], inside[place, : len(told)] = told, 1.0
    return read([path for path, _told in cases], curve), label, inside


def _tensors(torch: Any, data: Data) -> list[Any]:
    inputs, label, inside = data
    numbers = [torch.tensor(each, dtype=torch.float32) for each in (inputs.base, label, inside)]
    place = torch.tensor(inputs.place, dtype=torch.float32)
    return [torch.tensor(inputs.step), place, torch.tensor(inputs.there), *numbers]


def _loss(torch: Any, weights: dict[str, Any], columns: list[Any]) -> Any:
    step, place, there, base, label, inside = columns
    odds = forward(torch, weights, step, place, there, base)
    return torch.nn.functional.binary_cross_entropy_with_logits(odds, label, inside, reduction="sum") / inside.sum()


def _checked(torch: Any, weights: dict[str, Any], columns: list[Any]) -> float:
    """Give the loss over many examples, some at a time: large blocks of memory would come and go."""
    total = torch.tensor(0.0)
    with torch.no_grad():
        for parts in zip(*(torch.split(column, BATCH) for column in columns), strict=True):
            total += _loss(torch, weights, list(parts)) * parts[-1].sum()
    return float(total / columns[-1].sum())


def _copy(weights: dict[str, Any]) -> dict[str, Floats]:
    return {name: each.detach().numpy().astype(np.float64) for name, each in weights.items()}
