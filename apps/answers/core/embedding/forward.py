"""One pass of a small BERT over one text, compiled by numba (Devlin et al., 2019; Wang et al., 2020: MiniLM).

Weights stay int8. Activations are rounded to 13 to 15 bits with one scale per token, so a token's numbers never
depend on its neighbours in a batch, and the rounding is far below that of the weights.
"""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from apps.answers.core.embedding.product import linear, rows_for
from apps.answers.core.embedding.weights import LAYERS, WIDTH, Dense, Floats, Weights

HEADS = 12
HEAD = WIDTH // HEADS
SHARPNESS = np.float32(1 / math.sqrt(HEAD))
EPSILON = np.float32(1e-12)


class Forward:
    """The network with its weights: token numbers in, mean of the last layer out."""

    def __init__(self, weights: Weights) -> None:
        self._weights = weights

    def __call__(self, ids: NDArray[np.int64]) -> Floats:
        """Run one text of n tokens; returns (384,) float32, not yet of length 1."""
        count, own = len(ids), self._weights
        state = _embed(ids, rows_for(count), own.tokens, own.token_scale, own.positions)
        _normalise(state, count, own.first.gain[0], own.first.bias[0])
        for layer in range(LAYERS):
            state = self._layer(state, count, layer)
        return np.asarray(state[:count].mean(axis=0), np.float32)

    def _layer(self, state: Floats, count: int, layer: int) -> Floats:
        """Attend, add, normalise; widen, bend, narrow, add, normalise."""
        own = self._weights
        attended = _attend(_dense(state, own.attend, layer), count)
        middle = _dense(attended, own.project, layer)
        middle += state
        _normalise(middle, count, own.after_attention.gain[layer], own.after_attention.bias[layer])
        hidden = _dense(middle, own.widen, layer)
        _bend(hidden.reshape(-1))
        result = _dense(hidden, own.narrow, layer)
        result += middle
        _normalise(result, count, own.after_layer.gain[layer], own.after_layer.bias[layer])
        return result


def _dense(state: Floats, dense: Dense, layer: int) -> Floats:
    return np.asarray(linear(state, dense.weights[layer], dense.scale[layer], dense.bias[layer]))


@numba.njit(nogil=True, cache=True, fastmath=True, error_model="numpy")
def _embed(ids: Any, rows: Any, tokens: Any, scale: Any, positions: Any) -> Any:
    state = np.zeros((rows, tokens.shape[1]), np.float32)
    for row in range(len(ids)):
        for column in range(tokens.shape[1]):
            state[row, column] = tokens[ids[row], column] * scale[ids[row]] + positions[row, column]
    return state


@numba.njit(nogil=True, cache=True, fastmath=True, error_model="numpy")
def _attend(mixed: Any, count: Any) -> Any:
    """Let every token look at every other, head by head; `mixed` holds queries, keys and values side by side."""
    parts = mixed.reshape(mixed.shape[0], 3, HEADS, HEAD)
    out = np.zeros((mixed.shape[0], HEADS, HEAD), np.float32)
    for head in range(HEADS):
        queries = np.ascontiguousarray(parts[:count, 0, head])
        keys = np.ascontiguousarray(parts[:count, 1, head])
        values = np.ascontiguousarray(parts[:count, 2, head])
        shares = np.dot(queries, keys.T)
        for row in range(count):
            largest = np.float32(-1e30)
            for other in range(count):
                largest = max(largest, shares[row, other])
            total = np.float32(0)
            for other in range(count):
                shares[row, other] = math.exp((shares[row, other] - largest) * SHARPNESS)
                total += shares[row, other]
            for other in range(count):
                shares[row, other] /= total
        out[:count, head] = np.dot(shares, values)
    return out.reshape(mixed.shape[0], WIDTH)


@numba.njit(nogil=True, cache=True, fastmath=True, error_model="numpy")
def _normalise(state: Any, count: Any, gain: Any, bias: Any) -> None:
    """Bring each row to mean 0 and deviation 1, then to its learnt gain and bias; padding rows stay as they are."""
    width = state.shape[1]
    for row in range(count):
        mean = np.float32(0)
        for column in range(width):
            mean += state[row, column]
        mean /= np.float32(width)
        spread = np.float32(0)
        for column in range(width):
            spread += (state[row, column] - mean) ** 2
        inverse = np.float32(1) / np.float32(math.sqrt(spread / np.float32(width) + EPSILON))
        for column in range(width):
            state[row, column] = (state[row, column] - mean) * inverse * gain[column] + bias[column]


@numba.njit(nogil=True, cache=True, fastmath=True, error_model="numpy")
def _bend(hidden: Any) -> None:
    """Apply GELU in place; erf by Abramowitz and Stegun 7.1.28 (error 3e-7), which needs no exponential."""
    for place in range(len(hidden)):
        size = abs(hidden[place])
        x = min(size * np.float32(0.7071067811865476), np.float32(6))
        power = np.float32(0.0000430638)
        power = power * x + np.float32(0.0002765672)
        power = power * x + np.float32(0.0001520143)
        power = power * x + np.float32(0.0092705272)
        power = power * x + np.float32(0.0422820123)
        power = power * x + np.float32(0.0705230784)
        power = power * x + np.float32(1)
        power *= power
        power *= power
        power *= power
        power *= power
        erf = np.float32(1) - np.float32(1) / power
        hidden[place] = np.float32(0.5) * (hidden[place] + size * erf)
