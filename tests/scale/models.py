"""Seeded models of at least 20 MB, as sparse files: their weights are zero, so that they need little disk."""

import random
from pathlib import Path

import onnx
from onnx import TensorProto, helper

# Number of different models.
DISTINCT = 40
# Minimum size of a model, in bytes.
LEAST = 20 << 20


def make(folder: Path) -> list[Path]:
    """Writes the models, unless they exist."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"model{number}.onnx" for number in range(DISTINCT)]
    for number, path in enumerate(paths):
        if not path.exists():
            _write_sparse(path, _model(random.Random(number)).SerializeToString())
    return paths


def _model(random: random.Random) -> onnx.ModelProto:
    """Returns a chain of layers. Some layers have a fault: two Transposes that cancel, or an undefined bias."""
    width = random.choice([512, 768, 1024])
    count = LEAST // (4 * width * width) + random.randint(1, 3)
    nodes, weights, last = [], [], "x"
    for layer in range(count):
        weight, bias = f"w{layer}", f"b{layer}"
        weights.append(_tensor(weight, [width, width], random.random() < 0.2))
        weights.append(_tensor(bias, [width], False))
        bias = "ghost" if random.random() < 0.03 else bias
        nodes.append(helper.make_node("MatMul", [last, weight], [f"m{layer}"], name=f"/layer{layer}/MatMul"))
        nodes.append(helper.make_node("Add", [f"m{layer}", bias], [f"a{layer}"], name=f"/layer{layer}/Add"))
        last = f"a{layer}"
        if random.random() < 0.3:
            for turn in ("t", "u"):
                nodes.append(helper.make_node("Transpose", [last], [f"{turn}{layer}"], perm=[1, 0]))
                last = f"{turn}{layer}"
        nodes.append(helper.make_node(random.choice(["Relu", "Sigmoid", "Tanh"]), [last], [f"h{layer}"]))
        last = f"h{layer}"
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", width]) for name in ("x", last)]
    graph = helper.make_graph(nodes, "net", [ends[0]], [ends[1]], weights)
    opset = random.choice([13, 17, 21])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], producer_name="seeded")
    model.ir_version = 8
    return model


def _tensor(name: str, dims: list[int], is_typed: bool) -> TensorProto:
    """Returns a tensor of zeros, in `float_data` or in `raw_data`."""
    size = 1
    for dim in dims:
        size *= dim
    tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=dims)
    if is_typed:
        tensor.float_data.extend([0.0] * size)
    else:
        tensor.raw_data = bytes(4 * size)
    return tensor


def _write_sparse(path: Path, content: bytes) -> None:
    block = 1 << 16
    with open(path, "wb") as file:
        for start in range(0, len(content), block):
            part = content[start : start + block]
            if part.strip(b"\0"):
                file.seek(start)
                file.write(part)
        file.truncate(len(content))
