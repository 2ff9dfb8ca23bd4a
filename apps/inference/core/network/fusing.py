"""Layers fused so that one pass over a position does convolution, bias, residual and activation."""

from collections import Counter

import numpy as np

from apps.inference.core.network.layers import Act, Floats, Kind, Layer, Tensor

_CONVOLUTIONS = (Kind.CONV, Kind.DEPTHWISE, Kind.GROUPED)


def fuse(tensors: list[Tensor], layers: list[Layer], kept: set[int]) -> list[Layer]:
    """The same network with fewer layers; tensors in `kept` still get computed."""
    layers = list(layers)
    for rule in (_swished, _gated, _merged, _unshuffled, _scaled, _residual, _activated, _merged, _foreseen):
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


def _swished(layers: list[Layer], kept: set[int]) -> list[Layer]:
    """X * clip(x + 3, 0, 6), as some exporters write it, is six times hard-swish."""
    made, uses = _producers(layers), _uses(layers, kept)
    gone: set[int] = set()
    for layer in layers:
        if layer.kind != Kind.BINARY or layer.operator != 2:
            continue
        for x, c in (layer.inputs, layer.inputs[::-1]):
            clip = made.get(c)
            ramp = made.get(clip.inputs[0]) if clip is not None else None
            if clip is None or ramp is None or uses[c] != 1 or uses[ramp.output] != 1 or not _ramps(ramp, clip, x):
                continue
            clip.inputs, clip.act, clip.act_params = (x,), Act.HARDSWISH, (0.0, 0.0)
            clip.absorbed = ramp.absorbed + clip.absorbed
            count = layer.channels
            layer.kind, layer.inputs, layer.act, layer.operator = Kind.UNARY, (c,), Act.AFFINE, 0
            layer.weight = np.concatenate([np.full(count, 6.0), np.zeros(count)]).astype(np.float32)
            gone.add(ramp.output)
            break
    return [layer for layer in layers if layer.output not in gone]


def _ramps(ramp: Layer, clip: Layer, x: int) -> bool:
    unary = ramp.kind == clip.kind == Kind.UNARY and ramp.inputs == (x,)
    if not unary or ramp.act != Act.AFFINE or ramp.weight is None:
        return False
    scale, shift = np.split(ramp.weight, 2)
    return bool(clip.act == Act.CLIP and clip.act_params == (0.0, 6.0) and (scale == 1).all() and (shift == 3).all())


def _merged(layers: list[Layer], kept: set[int]) -> list[Layer]:
    """A scale and shift after a scale and shift is one."""
    result: list[Layer] = []
    uses, made = _uses(layers, kept), _producers(layers)
    for layer in layers:
        before = made.get(layer.inputs[0])
        if not (_affine(layer) and before is not None and _affine(before) and uses[before.output] == 1):
            result.append(layer)
            continue
        assert before.weight is not None and layer.weight is not None
        (s0, t0), (s1, t1) = np.split(before.weight, 2), np.split(layer.weight, 2)
        before.weight = np.concatenate([s0 * s1, t0 * s1 + t1])
        _take(before, layer, made)
    return result


def _affine(layer: Layer) -> bool:
    return layer.kind == Kind.UNARY and layer.act == Act.AFFINE and layer.weight is not None


def _unshuffled(layers: list[Layer], kept: set[int]) -> list[Layer]:
    """A scale and shift after channels became pixels is applied before."""
    result: list[Layer] = []
    uses, made = _uses(layers, kept), _producers(layers)
    for layer in layers:
        shuffle = made.get(layer.inputs[0])
        conv = made.get(shuffle.inputs[0]) if shuffle is not None else None
        apart = shuffle is not None and shuffle.kind == Kind.SHUFFLE and uses[shuffle.output] == 1
        if not (_affine(layer) and apart and shuffle is not None and shuffle.act == Act.NONE and _free(conv, uses)):
            result.append(layer)
            continue
        assert conv is not None and conv.bias is not None and layer.weight is not None
        scale, shift = (np.tile(part, shuffle.stride[0] ** 2) for part in np.split(layer.weight, 2))
        conv.weight, conv.bias = _scale(conv, scale), conv.bias * scale + shift
        _take(shuffle, layer, made)
    return result


def _foreseen(layers: list[Layer], kept: set[int]) -> list[Layer]:
    """A scale and shift before a convolution of single positions is part of its weights."""
    uses, made = _uses(layers, kept), _producers(layers)
    gone: set[int] = set()
    for conv in layers:
        before = made.get(conv.inputs[0])
        single = conv.kind == Kind.CONV and conv.kernel == (1, 1) and conv.pads == (0, 0, 0, 0)
        if not single or before is None or not _affine(before) or uses[before.output] != 1 or conv.weight is None:
            continue
        assert before.weight is not None and conv.bias is not None
        scale, shift = np.split(before.weight.astype(np.float64), 2)
        taps = conv.weight[0, 0].astype(np.float64)
        conv.bias = (conv.bias + shift @ taps).astype(np.float32)
        conv.weight = np.ascontiguousarray(taps * scale[:, None], dtype=np.float32)[None, None]
        conv.inputs = (before.inputs[0], *conv.inputs[1:])
        conv.absorbed = before.absorbed + conv.absorbed
        gone.add(before.output)
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
    return layer.kind in (*_CONVOLUTIONS, Kind.BINARY, Kind.SHUFFLE) and layer.act == Act.NONE
