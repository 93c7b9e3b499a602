"""Fixes exports of pitfalls with `onnx-fix --unsafe-fixes`, and compares with NumPy versions of the modules."""

import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

from . import runner, tools

EXPORTS = tools.ROOT / "tests/pitfalls/exported"
VERSIONS = ("ts13", "ts17")


@dataclass(frozen=True)
class Case:
    """A module of `tests/pitfalls/pitfalls.py`.

    `shapes` are shapes of the module's input; the export was traced with the first one. `module` is a function of the
    input and of the weights by name; it computes the outputs of the module in eager mode. The fix must report the rule
    `rule`.
    """

    shapes: tuple[tuple[int, ...], ...]
    module: Callable[[np.ndarray, dict[str, np.ndarray]], np.ndarray]
    rule: str
    tolerance: float = 0.0


def _baked_batch(x, _weights):
    return x.reshape(len(x), 12)


def _negative_index_read(data, _weights):
    return data[np.array([[1, 2], [2, -3]]), np.array([-2, 3])]


def _one_hot_inferred_classes(labels, _weights):
    return (labels[:, None] == np.arange(labels.max() + 1)).astype(np.float32)


def _training_mode(x, weights):
    """Convolution, and BatchNorm2d with running statistics. Dropout is the identity in eval mode."""
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(2, 3))
    convolved = np.einsum("nchwij,ocij->nohw", windows, weights["net.0.weight"])
    per_channel = {name: weights[name][:, None, None] for name in weights if weights[name].ndim == 1}
    convolved += per_channel["net.0.bias"]
    deviation = np.sqrt(per_channel["net.1.running_var"] + 1e-5)
    normalized = (convolved - per_channel["net.1.running_mean"]) / deviation
    return (normalized * per_channel["net.1.weight"] + per_channel["net.1.bias"]).astype(np.float32)


def _double_constant(x, _weights):
    return x * np.float32(0.5) + np.linspace(0, 1, 4)


CASES = {
    "BakedBatch": Case(((2, 3, 4), (1, 3, 4), (5, 3, 4)), _baked_batch, "FIX020"),
    "NegativeIndexRead": Case(((3, 4), (4, 4), (7, 4)), _negative_index_read, "FIX030"),
    "OneHotInferredClasses": Case(((3,), (1,), (8,)), _one_hot_inferred_classes, "FIX040"),
    "TrainingMode": Case(((2, 3, 8, 8), (1, 3, 8, 8), (5, 3, 8, 8)), _training_mode, "FIX051", tolerance=1e-5),
    "DoubleConstant": Case(((2, 4), (1, 4), (6, 4)), _double_constant, "FIX100", tolerance=1e-6),
}


def run(options) -> bool:
    fix = tools.binary("onnx-fix")
    rows, failures = [], []
    with tempfile.TemporaryDirectory(dir=tools.WORK) as scratch:
        for name, case in CASES.items():
            for version in VERSIONS:
                row, found = _check(EXPORTS / f"{name}.{version}.onnx", case, fix, Path(scratch))
                rows.append((f"{name}.{version}", *row))
                failures += [f"{name}.{version}{failure}" for failure in found]
    print(tools.table(("export", "sizes", "fixes", "right as exported", "right after the fix"), rows))
    if failures:
        print(f"{len(failures)} failures:\n{options.listed(failures)}")
    return not failures


def _check(export: Path, case: Case, fix: Path, scratch: Path) -> tuple[tuple, list[str]]:
    """Returns the table row of an export, and its failures."""
    exported, fixed, report = scratch / export.name, scratch / "fixed.onnx", scratch / "report.json"
    for old in (fixed, report):
        old.unlink(missing_ok=True)
    model = _with_free_batch(onnx.load(export))
    onnx.save(model, exported)
    done = tools.run([fix, "--unsafe-fixes", exported, "-o", fixed, "--report", report])
    if done.status != 0 or not (fixed.exists() and report.exists()):
        return (_sizes(case), "", "-", "-"), [f": onnx-fix: {done.last_words()}"]
    applied = json.loads(report.read_text())["rules"]
    weights = {weight.name: numpy_helper.to_array(weight) for weight in model.graph.initializer}
    before = [_difference(exported, case, shape, weights) for shape in case.shapes]
    after = [_difference(fixed, case, shape, weights) for shape in case.shapes]
    failures = [f" at {shape}: {difference}" for shape, difference in zip(case.shapes, after) if difference]
    failures += [] if case.rule in applied else [f": {case.rule} was not applied"]
    fixes = ", ".join(code for code in applied if code.startswith("FIX"))
    return (_sizes(case), fixes, _right(before), _right(after)), failures


def _with_free_batch(model: onnx.ModelProto) -> onnx.ModelProto:
    """Makes a static axis 0 of the input dynamic, and removes the declared shapes of outputs.

    Changes nothing if axis 0 is already dynamic.
    """
    first = model.graph.input[0].type.tensor_type.shape.dim[0]
    if first.HasField("dim_value"):
        first.dim_param = "batch"
        for output in model.graph.output:
            output.type.tensor_type.ClearField("shape")
    return model


def _difference(model: Path, case: Case, shape: tuple[int, ...], weights: dict[str, np.ndarray]) -> str | None:
    """Returns the difference between the outputs of model and module for an input of this shape, or None."""
    random = np.random.default_rng(len(shape) + sum(shape))
    is_labels = len(shape) == 1
    x = random.integers(0, 4, shape) if is_labels else random.standard_normal(shape, dtype=np.float32)
    expected = case.module(x, weights)
    try:
        (got,) = runner.in_runtime(str(model), {"in0": x})
    except Exception as error:  # noqa: BLE001 – onnxruntime raises a dozen kinds, some of them bare
        return " ".join(str(error).split())[-200:]
    if (got.dtype, got.shape) != (expected.dtype, expected.shape):
        return f"{got.dtype}{list(got.shape)}, not {expected.dtype}{list(expected.shape)}"
    furthest = np.abs(got - expected).max()
    return None if furthest <= case.tolerance else f"max difference {furthest:.3g}"


def _sizes(case: Case) -> str:
    return ", ".join("×".join(map(str, shape)) for shape in case.shapes)


def _right(differences: list[str | None]) -> str:
    return f"{differences.count(None)} of {len(differences)}"
