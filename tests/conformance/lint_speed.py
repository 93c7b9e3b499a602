"""Compares CPU time of onnx-lint and onnx.checker; measures memory on a model with 1 GB of weights."""

import math
import sys

import onnx
from onnx import TensorProto, helper

from . import models, tools

# Models of about 2 MB.
MEASURED = ("hf_bert.dyn18", "silero_vad")
MOST_PEAK_BYTES = 64 << 20
WEIGHT_BYTES = 1 << 30
# Number of layers of the large model; each layer has a square matrix of 2^26 floats.
LAYERS = 4

# The checker runs as one process, like a user's script, and prints the CPU time of the call alone.
CHECKER = """
import sys, time, onnx
start = time.process_time()
onnx.checker.check_model(sys.argv[1], full_check=True)
print(time.process_time() - start)
"""


def run(options) -> bool:
    lint = tools.binary("onnx-lint")
    times_faster = _cpu_time(lint, repeat=3 if options.sample else 10)
    return options.floors.factor("faster than onnx.checker", times_faster) & _memory(lint)


def _cpu_time(lint, repeat) -> float:
    """Returns the smallest speedup of onnx-lint over onnx.checker among the measured models."""
    rows, factors = [], []
    paths = {model.name: model.path for model in models.collect()}
    for name in MEASURED:
        ours = tools.measure([lint, "--isolated", "--output-format", "concise", paths[name]], repeat=repeat)
        theirs = tools.measure([sys.executable, "-c", CHECKER, paths[name]], repeat=max(repeat // 2, 2))
        factors.append(theirs.cpu_seconds / max(ours.cpu_seconds, 1e-3) if ours.status in (0, 1) else 0)
        rows.append((name, f"{paths[name].stat().st_size / 1e6:.1f}", f"{ours.cpu_seconds * 1e3:.1f}",
                     f"{theirs.cpu_seconds * 1e3:.1f}", f"{float(theirs.stdout) * 1e3:.1f}",
                     f"{factors[-1]:.0f}"))
    print(tools.table(("model", "MB", "onnx-lint CPU ms", "checker CPU ms", "call only", "times faster"), rows))
    return min(factors)


def _memory(lint) -> bool:
    rows, passed = [], True
    for name, path in (("inside the file", _embedded()), ("external data", _external())):
        done = tools.measure([lint, "--isolated", "--output-format", "concise", path])
        holds = done.peak_bytes < MOST_PEAK_BYTES and done.status in (0, 1)
        passed &= holds
        rows.append((f"1 GB of weights, {name}", f"{done.cpu_seconds * 1e3:.0f}", f"{done.peak_bytes / 2**20:.1f}",
                     "yes" if holds else f"NO: exit {done.status}"))
    print(tools.table(("model", "CPU ms", "peak MB", "< 64 MB"), rows))
    return passed


def _layers() -> tuple[onnx.ModelProto, list[TensorProto]]:
    """Returns a chain of MatMul and Relu, and its weights without data."""
    side = math.isqrt(WEIGHT_BYTES // LAYERS // 4)
    nodes, weights, last = [], [], "x"
    for layer in range(LAYERS):
        weights.append(TensorProto(name=f"w{layer}", data_type=TensorProto.FLOAT, dims=[side, side]))
        nodes.append(helper.make_node("MatMul", [last, f"w{layer}"], [f"m{layer}"], name=f"matmul{layer}"))
        nodes.append(helper.make_node("Relu", [f"m{layer}"], [f"r{layer}"], name=f"relu{layer}"))
        last = f"r{layer}"
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", side]) for name in ("x", last)]
    graph = helper.make_graph(nodes, "layers", values[:1], values[1:])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), weights


def _external():
    """Writes a model with external weights: one sparse file of zeros beside the model."""
    model, weights = _layers()
    path = tools.WORK / "gigabyte-external.onnx"
    size = WEIGHT_BYTES // LAYERS
    for index, weight in enumerate(weights):
        weight.data_location = TensorProto.EXTERNAL
        for key, value in (("location", "gigabyte.weights"), ("offset", str(index * size)), ("length", str(size))):
            weight.external_data.add(key=key, value=value)
    model.graph.initializer.extend(weights)
    with (tools.WORK / "gigabyte.weights").open("wb") as file:
        file.truncate(WEIGHT_BYTES)
    path.write_bytes(model.SerializeToString())
    return path


def _embedded():
    """Writes a model with embedded weights as a sparse file, encoded by hand, with holes for the zeros."""
    model, weights = _layers()
    path = tools.WORK / "gigabyte-embedded.onnx"
    size = WEIGHT_BYTES // LAYERS
    graph = model.graph.SerializeToString()
    tensors = [weight.SerializeToString() + _tag(9, size) for weight in weights]
    headers = [_tag(5, len(tensor) + size) + tensor for tensor in tensors]
    model.ClearField("graph")
    with path.open("wb") as file:
        file.write(model.SerializeToString())
        file.write(_tag(7, len(graph) + sum(len(header) + size for header in headers)) + graph)
        for header in headers:
            file.write(header)
            file.seek(size, 1)
        file.truncate()
    return path


def _tag(field: int, length: int) -> bytes:
    """Encodes the header of a length-delimited protobuf field: graph is 7, initializer 5, raw_data 9."""
    encoded = bytearray([field << 3 | 2])
    while length > 0x7F:
        encoded.append(length & 0x7F | 0x80)
        length >>= 7
    encoded.append(length)
    return bytes(encoded)
