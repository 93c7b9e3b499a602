"""Converts real float32 models to float16, with `onnx-fix --to float16` and with onnxconverter-common.

A result is right if the model loads, has no new infinity or NaN, and is within a tolerance. The tolerance is mainly a
multiple of the change in outputs when only the weights are rounded, since intermediate values are rounded, too. The check
also compares CPU time, file sizes and casts.
"""

import collections
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

from . import models, parallel, peer_tools, runner, tools

OURS, THEIRS = "onnx-fix", "onnxconverter-common"
# The tolerance is the sum of three terms: TIMES times the change of outputs from rounding only the weights, SHARE
# times the largest element, and TIMES times STEP, the smallest positive float16.
TIMES, SHARE, STEP = 8, 2.0**-7, 2.0**-24

CONVERTER = """
import sys, onnx, onnxconverter_common.float16
onnx.save(onnxconverter_common.float16.convert_float_to_float16(onnx.load(sys.argv[1])), sys.argv[2])
"""


@dataclass
class Row:
    """Results for one model, by tool. The fault is empty if the result is right."""

    name: str
    faults: dict = field(default_factory=dict)
    seconds: dict = field(default_factory=dict)
    sizes: dict = field(default_factory=dict)
    casts: dict = field(default_factory=dict)
    distance: dict = field(default_factory=dict)


def run(options) -> bool:
    fix, python = tools.binary("onnx-fix"), peer_tools.python()
    chosen = [model for model in models.collect() if model.runs and _is_float(model.load())]
    for folder in options.models:
        chosen += models.of_folder(folder)
    with tempfile.TemporaryDirectory(dir=tools.WORK) as scratch:
        made = [_convert(fix, python, options.fix_arguments, model, Path(scratch) / str(at))
                for at, model in enumerate(chosen)]
        judged = parallel.map_isolated(_judge, list(zip(chosen, made)), options.jobs)
    rows = [row for row in judged if row is not None]
    died = [model.name for model, row in zip(chosen, judged) if row is None]
    print(tools.table(("model", OURS, "max diff", "casts", "file", THEIRS, "max diff", "casts", "file"), map(_line, rows)))
    for tool in (OURS, THEIRS):
        kinds = collections.Counter(row.faults[tool].split(":")[0] for row in rows)
        right = kinds.pop("", 0)
        faults = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
        seconds = sum(row.seconds[tool] for row in rows)
        print(f"{tool}: {right} of {len(rows)} right; {faults or 'none wrong'}; {seconds:.1f} s of CPU in total")
        listed = [f"{row.name}: {row.faults[tool]}" for row in rows if row.faults[tool]]
        if listed:
            print(options.listed(listed, first=40))
    if died:
        print(f"ONNX Runtime crashed on: {', '.join(died)}")
    right = sum(not row.faults[OURS] for row in rows)
    return options.floors.share("right", right, len(chosen)) and not died


def _is_float(model: onnx.ModelProto) -> bool:
    """Returns True if no input or initializer is float16, and one is float32 or the model has a Constant node."""
    kinds = [tensor.data_type for tensor in model.graph.initializer]
    kinds += [value.type.tensor_type.elem_type for value in model.graph.input]
    float32, float16 = kinds.count(onnx.TensorProto.FLOAT), kinds.count(onnx.TensorProto.FLOAT16)
    return float16 == 0 and (float32 > 0 or any(node.op_type == "Constant" for node in model.graph.node))


def _convert(fix, python, arguments, model, made: Path) -> dict:
    results = {}
    commands = {OURS: [fix, "--isolated", "--to", "float16", *arguments], THEIRS: [python, "-W", "ignore", "-c", CONVERTER]}
    for tool, command in commands.items():
        path = made.with_name(f"{made.name}.{tool}.onnx")
        output = ["-o", path] if tool == OURS else [path]
        done = tools.measure([*command, model.path, *output])
        failed = "" if done.status == 0 and path.exists() else f"refused: {done.last_words()}"
        results[tool] = (path, failed, done.cpu_seconds)
    return results


def _judge(item) -> Row:
    model, results = item
    original = model.load()
    rounded = _with_rounded_weights(original)
    runs = []
    for feeds in model.feeds():
        given = {name: _rounded(value) for name, value in feeds.items()}
        plain = runner.in_runtime(original.SerializeToString(), given)
        runs.append((given, plain, runner.in_runtime(rounded.SerializeToString(), given)))
    row = Row(model.name)
    for tool, (path, failed, seconds) in results.items():
        row.seconds[tool] = seconds
        row.faults[tool] = failed or _fault(path, runs, row.distance, tool)
        if not failed:
            made = onnx.load(path)
            row.sizes[tool] = path.stat().st_size / model.path.stat().st_size
            row.casts[tool] = sum(node.op_type == "Cast" for node in runner.nodes(made))
    return row


def _fault(path, runs, distance, tool) -> str:
    """Returns the reason why a result is not right, or ""."""
    made = onnx.load(path)
    kinds = {value.name: value.type.tensor_type.elem_type for value in made.graph.input}
    distance[tool] = 0.0
    for given, plain, moved in runs:
        feeds = {name: value.astype(np.float16) if kinds.get(name) == onnx.TensorProto.FLOAT16 else value
                 for name, value in given.items()}
        try:
            got = runner.in_runtime(str(path), feeds)
        except Exception as error:  # noqa: BLE001 – onnxruntime raises a dozen kinds
            return "not run: " + " ".join(str(error).split())[:200]
        for want, near, have in zip(plain, moved, got, strict=True):
            if want.dtype.kind != "f":
                if want.shape != have.shape or not (want == have).all():
                    return "different choice: integers differ"
                continue
            want, near, have = (array.astype(np.float64) for array in (want, near, have))
            if want.shape != have.shape:
                return f"wrong: the shape was {want.shape} and is {have.shape}"
            finite = np.isfinite(want)
            if not np.isfinite(have[finite]).all():
                return "not finite: a new infinity or NaN"
            largest = np.max(np.abs(want[finite]), initial=1e-9)
            off = np.max(np.abs(want - have)[finite], initial=0.0)
            allowed = TIMES * np.max(np.abs(want - near)[finite & np.isfinite(near)], initial=0.0)
            allowed += SHARE * largest + TIMES * STEP
            distance[tool] = max(distance[tool], off / largest)
            if off > allowed:
                return f"wrong: max difference {off:.2g}, tolerance {allowed:.2g}, largest element {largest:.2g}"
    return ""


def _rounded(value: np.ndarray) -> np.ndarray:
    return value.astype(np.float16).astype(np.float32) if value.dtype == np.float32 else value


def _with_rounded_weights(model: onnx.ModelProto) -> onnx.ModelProto:
    rounded = onnx.ModelProto()
    rounded.CopyFrom(model)
    constants = [node.attribute[0].t for node in runner.nodes(rounded) if node.op_type == "Constant"]
    for tensor in [*rounded.graph.initializer, *constants]:
        if tensor.data_type == onnx.TensorProto.FLOAT:
            with np.errstate(over="ignore"):
                array = _rounded(numpy_helper.to_array(tensor))
            if np.isfinite(array).all():
                tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))
    return rounded


def _line(row: Row):
    cells = [row.name]
    for tool in (OURS, THEIRS):
        verdict = row.faults[tool].split(":")[0] or "right"
        number = lambda values, form: format(values[tool], form) if tool in values else "–"
        cells += [verdict, number(row.distance, ".1e"), number(row.casts, "d"), number(row.sizes, ".2f")]
    return cells
