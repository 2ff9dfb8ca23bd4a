"""ONNX files come from strangers: read, check and simplify them without running anything they bring."""

import math
import tempfile
from dataclasses import dataclass
from pathlib import Path

import onnx
import onnxruntime
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from onnx import TensorProto

from apps.inference.core.network.padding import fold_padding

MAX_FILE_BYTES = 512 * 2**20
MAX_TENSOR_BYTES = 2**30
MAX_NODES = 20_000
MAX_SIDE = 8192
_CONTROL = frozenset({"If", "Loop", "Scan", "SequenceMap"})


class GraphError(ValueError):
    """The file is not a network this engine accepts; the message says why in plain words."""


@dataclass(frozen=True)
class Graph:
    """A checked network: one float image in (1 x channels x height x width), any outputs."""

    proto: bytes
    input_name: str
    channels: int
    height: int | None
    width: int | None
    output_names: tuple[str, ...]

    def at(self, height: int, width: int) -> onnx.ModelProto:
        """The network with its input fixed to 1 x channels x height x width; GraphError if it does not fit."""
        if not (0 < height <= MAX_SIDE and 0 < width <= MAX_SIDE):
            raise GraphError(f"input size {height}x{width} is outside 1..{MAX_SIDE}")
        model = onnx.load_from_string(self.proto)
        _fix_input(model, self.input_name, (1, self.channels, height, width))
        return _with_shapes(model, height, width)

    def simplified(self, height: int, width: int) -> onnx.ModelProto:
        """The fixed network with batch normalisation folded and constants computed (onnxruntime, basic level)."""
        return _simplify(self.at(height, width), height, width)


def load(source: bytes | str | Path) -> Graph:
    """Read an ONNX file or its bytes; GraphError if it is broken, dangerous or no convolutional network."""
    data = _read(source)
    model = _parse(data)
    _check_nodes(model)
    _check_tensors(model, folder=None if isinstance(source, bytes) else Path(source).parent)
    if any(t.data_location == TensorProto.EXTERNAL for t in model.graph.initializer):
        model = _inline(source)
    _check_model(model)
    return _describe(model)


def _read(source: bytes | str | Path) -> bytes:
    if isinstance(source, bytes):
        data = source
    else:
        path = Path(source)
        if not path.is_file():
            raise GraphError(f"no such file: {path.name}")
        if path.stat().st_size > MAX_FILE_BYTES:
            raise GraphError(f"the file has {path.stat().st_size} bytes; at most {MAX_FILE_BYTES} are accepted")
        data = path.read_bytes()
    if len(data) > MAX_FILE_BYTES:
        raise GraphError(f"the file has {len(data)} bytes; at most {MAX_FILE_BYTES} are accepted")
    return data


def _parse(data: bytes) -> onnx.ModelProto:
    try:
        model = onnx.load_from_string(data)
    except (DecodeError, ValueError, TypeError) as error:
        raise GraphError("the file is not ONNX: it cannot be parsed") from error
    if not model.graph.node:
        raise GraphError("the file is not ONNX, or holds no operations")
    return model


def _check_nodes(model: onnx.ModelProto) -> None:
    nodes = model.graph.node
    if len(nodes) > MAX_NODES:
        raise GraphError(f"{len(nodes)} operations; at most {MAX_NODES} are accepted")
    custom = sorted({f"{n.domain}::{n.op_type}" for n in nodes if n.domain not in ("", "ai.onnx")})
    if custom or model.functions:
        raise GraphError(f"custom operations are not accepted: {', '.join(custom) or 'local functions'}")
    control = sorted({n.op_type for n in nodes if n.op_type in _CONTROL or _has_subgraph(n)})
    if control:
        raise GraphError(f"control flow is not accepted: {', '.join(control)}")
    if not any(n.op_type == "Conv" for n in nodes):
        raise GraphError("not a convolutional network: it has no Conv operation")


def _has_subgraph(node: onnx.NodeProto) -> bool:
    return any(a.type in (onnx.AttributeProto.GRAPH, onnx.AttributeProto.GRAPHS) for a in node.attribute)


def _check_tensors(model: onnx.ModelProto, folder: Path | None) -> None:
    attributes = [a.t for n in model.graph.node for a in n.attribute if a.type == onnx.AttributeProto.TENSOR]
    for tensor in [*model.graph.initializer, *attributes]:
        size = _claimed_bytes(tensor)
        if size > MAX_TENSOR_BYTES:
            raise GraphError(f"tensor {tensor.name!r} claims {size} bytes; at most {MAX_TENSOR_BYTES} are accepted")
        if tensor.data_location == TensorProto.EXTERNAL:
            _check_external(tensor, folder)
        elif tensor.HasField("raw_data") and len(tensor.raw_data) != size:
            raise GraphError(f"tensor {tensor.name!r} claims {size} bytes and brings {len(tensor.raw_data)}")


def _claimed_bytes(tensor: TensorProto) -> int:
    if any(d < 0 for d in tensor.dims):
        raise GraphError(f"tensor {tensor.name!r} has a negative dimension")
    try:
        item = int(onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type).itemsize)
    except (KeyError, TypeError) as error:
        raise GraphError(f"tensor {tensor.name!r} has an unknown element type") from error
    return int(math.prod(tensor.dims)) * item


def _check_external(tensor: TensorProto, folder: Path | None) -> None:
    where = next((e.value for e in tensor.external_data if e.key == "location"), "")
    if folder is None:
        raise GraphError(f"tensor {tensor.name!r} keeps its data in another file ({where!r}); upload one file")
    target = (folder / where).resolve()
    if Path(where).is_absolute() or not target.is_relative_to(folder.resolve()):
        raise GraphError(f"tensor {tensor.name!r} keeps its data outside the model's folder ({where!r})")
    if not target.is_file() or target.stat().st_size > MAX_TENSOR_BYTES:
        raise GraphError(f"tensor {tensor.name!r}: its data file {where!r} is missing or too large")


def _inline(source: bytes | str | Path) -> onnx.ModelProto:
    try:
        return onnx.load(str(source), load_external_data=True)
    except Exception as error:
        raise GraphError(f"the external data cannot be read: {_first_line(error)}") from error


def _check_model(model: onnx.ModelProto) -> None:
    try:
        onnx.checker.check_model(model)
    except Exception as error:
        raise GraphError(f"onnx.checker refuses it: {_first_line(error)}") from error


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0][:300]


def _describe(model: onnx.ModelProto) -> Graph:
    constants = {t.name for t in model.graph.initializer}
    inputs = [i for i in model.graph.input if i.name not in constants]
    if len(inputs) != 1:
        raise GraphError(f"one image input is needed; this network has {len(inputs)}")
    kind = inputs[0].type.tensor_type
    dims = [d.dim_value if d.WhichOneof("value") == "dim_value" else None for d in kind.shape.dim]
    if kind.elem_type != TensorProto.FLOAT or len(dims) != 4:
        raise GraphError("the input must be float32 of four dimensions (batch, channels, height, width)")
    batch, channels, height, width = dims
    if batch not in (None, 1) or channels is None or not 1 <= channels <= 64:
        raise GraphError(f"the input must be batch 1 (or free) and 1..64 channels, not {dims}")
    names = tuple(o.name for o in model.graph.output)
    return Graph(model.SerializeToString(), inputs[0].name, channels, height, width, names)


def _fix_input(model: onnx.ModelProto, name: str, shape: tuple[int, ...]) -> None:
    for value in model.graph.input:
        if value.name == name:
            for dim, size in zip(value.type.tensor_type.shape.dim, shape, strict=True):
                dim.Clear()
                dim.dim_value = size
    for value in model.graph.output:
        value.type.tensor_type.ClearField("shape")
    del model.graph.value_info[:]


def _with_shapes(model: onnx.ModelProto, height: int, width: int) -> onnx.ModelProto:
    try:
        model = onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)
    except Exception as error:
        raise GraphError(f"the network does not accept {height}x{width}: {_first_line(error)}") from error
    for value in [*model.graph.value_info, *model.graph.output]:
        dims = value.type.tensor_type.shape.dim
        if len(dims) > 2 and any(d.HasField("dim_value") and d.dim_value < 1 for d in dims):
            raise GraphError(f"the network does not accept {height}x{width}: nothing is left at {value.name!r}")
        _check_size(value)
    return model


def _check_size(value: onnx.ValueInfoProto) -> None:
    kind = value.type.tensor_type
    size = math.prod(d.dim_value for d in kind.shape.dim if d.HasField("dim_value")) * 4
    if size > MAX_TENSOR_BYTES:
        raise GraphError(f"result {value.name!r} would take {size} bytes; at most {MAX_TENSOR_BYTES} are accepted")


def _simplify(model: onnx.ModelProto, height: int, width: int) -> onnx.ModelProto:
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    return _optimise(model, options, height, width)


def _optimise(model: onnx.ModelProto, options: onnxruntime.SessionOptions, height: int, width: int) -> onnx.ModelProto:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "simplified.onnx"
        options.optimized_model_filepath = str(path)
        try:
            onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
            simple = onnx.load(str(path))
        except Exception as error:
            raise GraphError(f"onnxruntime refuses it at {height}x{width}: {_first_line(error)}") from error
    fold_padding(simple)
    simple = onnx.shape_inference.infer_shapes(simple, data_prop=True)
    _require_static(simple, height, width)
    return simple


def _require_static(model: onnx.ModelProto, height: int, width: int) -> None:
    for value in model.graph.output:
        dims = value.type.tensor_type.shape.dim
        if not value.type.tensor_type.HasField("shape") or any(not d.HasField("dim_value") for d in dims):
            raise GraphError(f"output {value.name!r} has a dynamic shape even at a fixed input of {height}x{width}")
