"""Layers fused so that one pass over a position does convolution, bias, residual and activation."""

from collections import Counter

import numpy as np

from apps.inference.core.network.layers import Act, Floats, Kind, Layer, Tensor

_CONVOLUTIONS = (Kind.CONV, Kind.DEPTHWISE, Kind.GROUPED)


def fuse(tensors: list[Tensor], layers: list[Layer], kept: set[int]) -> list[Layer]:
    """The same network with fewer layers; tensors in `kept` still get computed."""
    layers = list(layers)
    for rule in (_gated, _scaled, _residual, _activated):
        layers = rule(layers, kept)
    return layers


def _producers(layers: list[Layer]) -> dict[int, Layer]:
    return {layer.output: layer for layer in layers}


def _uses(layers: list[Layer], kept: set[int]) -> Counter[int]:
    return Counter([t for layer in layers for t in layer.reads()] + list(kept))


def _gated(layers: list[Layer], kept: set[int]) -> list[Layer]:
    """X * sigmoid(x) is SiLU, x * hardsigmoid(x) of slope 1/6 is hard-swish."""
    made, uses = _producers(layers), _uses(layers, kept)
    gone: set[int] = set()
    for layer in layers:
        if layer.kind != Kind.BINARY or layer.operator != 2:
            continue
        for x, g in (layer.inputs, layer.inputs[::-1]):
            gate = made.get(g)
            if gate and gate.kind == Kind.UNARY and gate.inputs == (x,) and uses[g] == 1 and _gate(gate) is not None:
                layer.kind, layer.inputs, layer.act = Kind.UNARY, (x,), _gate(gate) or Act.NONE
                layer.absorbed += gate.absorbed
                gone.add(g)
                break
    return [layer for layer in layers if layer.output not in gone]


def _gate(layer: Layer) -> Act | None:
    if layer.act == Act.SIGMOID:
        return Act.SILU
    slope, shift = layer.act_params
    if layer.act == Act.HARDSIGMOID and abs(slope - 1 / 6) < 1e-6 and shift == 0.5:
        return Act.HARDSWISH
    return None


def _scaled(layers: list[Layer], kept: set[int]) -> list[Layer]:
    """A convolution followed by a scale and a shift per channel is one convolution."""
    result: list[Layer] = []
    uses = _uses(layers, kept)
    made = _producers(layers)
    for layer in layers:
        conv = made.get(layer.inputs[0])
        if layer.kind == Kind.UNARY and layer.act == Act.AFFINE and _free(conv, uses) and layer.weight is not None:
            assert conv is not None and conv.weight is not None and conv.bias is not None
            scale, shift = np.split(layer.weight, 2)
            result.remove(conv)
            conv.weight, conv.bias = _scale(conv, scale), conv.bias * scale + shift
            _take(conv, layer, made)
            result.append(conv)
        else:
            result.append(layer)
    return result


def _scale(conv: Layer, scale: Floats) -> Floats:
    assert conv.weight is not None
    if conv.kind == Kind.DEPTHWISE:
        return np.ascontiguousarray(conv.weight * scale)
    groups = conv.weight.shape[0]
    return np.ascontiguousarray(conv.weight * scale.reshape(groups, 1, 1, -1))


def _free(conv: Layer | None, uses: Counter[int]) -> bool:
    fresh = conv is not None and conv.kind in _CONVOLUTIONS and conv.act == Act.NONE and conv.residual < 0
    return fresh and conv is not None and uses[conv.output] == 1


def _take(conv: Layer, layer: Layer, made: dict[int, Layer]) -> None:
    made.pop(conv.output, None)
    conv.output = layer.output
    conv.absorbed += layer.absorbed
    made[conv.output] = conv


def _residual(layers: list[Layer], kept: set[int]) -> list[Layer]:
    """The sum of a convolution and another feature map is added while the convolution's result is at hand."""
    result: list[Layer] = []
    uses, made = _uses(layers, kept), _producers(layers)
    for layer in layers:
        conv = _summand(layer, made, uses)
        if conv is None:
            result.append(layer)
            continue
        other = [t for t in layer.inputs if t != conv.output]
        result.remove(conv)
        conv.residual = other[0]
        _take(conv, layer, made)
        result.append(conv)
    return result


def _summand(layer: Layer, made: dict[int, Layer], uses: Counter[int]) -> Layer | None:
    if layer.kind != Kind.BINARY or layer.operator != 0 or layer.inputs[0] == layer.inputs[1]:
        return None
    free = [made[t] for t in layer.inputs if _free(made.get(t), uses)]
    return free[-1] if free else None


def _activated(layers: list[Layer], kept: set[int]) -> list[Layer]:
    """An activation is applied by the layer before it."""
    result: list[Layer] = []
    uses, made = _uses(layers, kept), _producers(layers)
    for layer in layers:
        before = made.get(layer.inputs[0])
        plain = layer.kind == Kind.UNARY and layer.act not in (Act.NONE, Act.AFFINE)
        if plain and before is not None and _takes_activation(before) and uses[before.output] == 1:
            result.remove(before)
            before.act, before.act_params = layer.act, layer.act_params
            _take(before, layer, made)
            result.append(before)
        else:
            result.append(layer)
    return result


def _takes_activation(layer: Layer) -> bool:
    return layer.kind in (*_CONVOLUTIONS, Kind.BINARY) and layer.act == Act.NONE
