"""Explicit Pad operations folded into the convolutions that read them."""

from collections.abc import Iterable

import numpy as np
import onnx


def fold_padding(model: onnx.ModelProto) -> None:
    """Remove every zero Pad of height and width whose readers are all convolutions; changes the model in place."""
    constants = {t.name: t for t in model.graph.initializer}
    outputs = {o.name for o in model.graph.output}
    for pad in [n for n in model.graph.node if n.op_type == "Pad"]:
        readers = [n for n in model.graph.node if pad.output[0] in n.input]
        pads = _zero_pads(pad, constants)
        if pads is not None and pad.output[0] not in outputs and readers and all(map(_is_open_conv, readers)):
            for conv in readers:
                _absorb(conv, pad, pads)
            model.graph.node.remove(pad)
            _drop_shape(model, pad.output[0])


def _zero_pads(pad: onnx.NodeProto, constants: dict[str, onnx.TensorProto]) -> list[int] | None:
    """(top, left, bottom, right) of a Pad that adds zeros around each channel, else None."""
    mode = next((a.s for a in pad.attribute if a.name == "mode"), b"constant")
    if mode != b"constant" or len(pad.input) < 2 or pad.input[1] not in constants or any(pad.input[3:]):
        return None
    if len(pad.input) > 2 and pad.input[2]:
        value = constants.get(pad.input[2])
        if value is None or np.any(onnx.numpy_helper.to_array(value) != 0):
            return None
    pads = onnx.numpy_helper.to_array(constants[pad.input[1]]).ravel().tolist()
    if len(pads) != 8 or pads[:2] != [0, 0] or pads[4:6] != [0, 0] or min(pads) < 0:
        return None
    return [*pads[2:4], *pads[6:8]]


def _is_open_conv(node: onnx.NodeProto) -> bool:
    auto = next((a.s for a in node.attribute if a.name == "auto_pad"), b"NOTSET")
    return node.op_type == "Conv" and auto in (b"NOTSET", b"VALID")


def _absorb(conv: onnx.NodeProto, pad: onnx.NodeProto, pads: Iterable[int]) -> None:
    conv.input[0] = pad.input[0]
    old = next((list(a.ints) for a in conv.attribute if a.name == "pads"), [0, 0, 0, 0])
    kept = [a for a in conv.attribute if a.name not in ("pads", "auto_pad")]
    del conv.attribute[:]
    total = [int(a + b) for a, b in zip(old, pads, strict=True)]
    conv.attribute.extend([*kept, onnx.helper.make_attribute("pads", total)])


def _drop_shape(model: onnx.ModelProto, name: str) -> None:
    for value in [v for v in model.graph.value_info if v.name == name]:
        model.graph.value_info.remove(value)
