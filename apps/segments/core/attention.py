"""What the transformers share: normalising tokens and attention; the same lines serve numpy and torch (`xp`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

NEVER = -1e9


def normal(tokens: Any) -> Any:
    """Bring tokens (..., width) to mean 0 and variance 1 each."""
    centred = tokens - tokens.mean(-1)[..., None]
    return centred / ((centred * centred).mean(-1)[..., None] + 1e-5) ** 0.5


def attend(xp: Any, weights: Mapping[str, Any], name: str, tokens: Any, count: int, there: Any = None) -> Any:
    """Let tokens (..., length, width) look at each other with `count` heads.

    The weights are `name`.ask, .key, .value and .out; `there`, if given, is false for tokens nobody may look at and
    broadcasts against (..., heads, length, length).
    """
    *outer, length, width = tokens.shape

    def heads(part: str) -> Any:
        found = tokens @ weights[f"{name}.{part}"]
        return found.reshape(*outer, length, count, width // count).swapaxes(-3, -2)

    scores = heads("ask") @ heads("key").swapaxes(-1, -2) * (width // count) ** -0.5
    if there is not None:
        scores = xp.where(there, scores, NEVER)
    share = xp.exp(scores - xp.amax(scores, -1)[..., None])
    share = share / share.sum(-1)[..., None]
    mixed = (share @ heads("value")).swapaxes(-3, -2).reshape(*outer, length, width)
    return mixed @ weights[f"{name}.out"]
