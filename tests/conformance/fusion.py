"""Fuses the attention of exported models, for opset 23 and for ONNX Runtime, and compares the results.

An attention core is a Softmax whose result reaches the first operand of a MatMul, possibly through nodes that cast, move or
select elements. Beside each model is an .npz archive with its inputs in several runs of different sizes; the keys are
`RUN.NAME`, the number of a run and the name of an input.
"""

import collections
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx

from . import parallel, runner, tools, values

MODELS = tools.ROOT / "tests/models/fusion"
TARGETS = {"opset 23": ("--opset", "23"), "ONNX Runtime": ("--target", "onnxruntime")}

BETWEEN = {"Cast", "Dropout", "Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze", "Where"}

# Relative tolerance, and absolute tolerance as a share of the largest element of all outputs.
TOLERANCE = 1e-3


@dataclass
class Row:
    """Attention cores of an exported model; for each target: unfused cores, nodes, and the fault (empty if right)."""

    name: str
    cores: int
    nodes: int
    left: dict
    after: dict
    faults: dict


def run(options) -> bool:
    fix = tools.binary("onnx-fix")
    paths = [path for folder in (MODELS, *options.models) for path in sorted(folder.glob("*.onnx"))]
    judged = parallel.map_isolated(_judge, [(fix, path) for path in paths], options.jobs)
    rows = [row for row in judged if row is not None]
    died = [path.stem for path, row in zip(paths, judged) if row is None]
    heads = [f"{head}, {target}" for target in TARGETS for head in ("left", "nodes")]
    print(tools.table(("model", "cores", "nodes", *heads), map(_line, rows)))
    faults = [f"{row.name}, {target}: {fault}" for row in rows for target, fault in row.faults.items() if fault]
    if faults:
        print(f"failures: {len(faults)}\n{options.listed(faults, first=40)}")
    if died:
        print(f"ONNX Runtime crashed on: {', '.join(died)}")
    cores = sum(row.cores for row in rows)
    held = [options.floors.share(f"fused for {target}", cores - sum(row.left[target] for row in rows), cores)
            for target in TARGETS]
    return all(held) and not faults and not died


def _line(row) -> tuple:
    return row.name, row.cores, row.nodes, *(number for target in TARGETS for number in (row.left[target], row.after[target]))


def _judge(case) -> Row:
    fix, path = case
    model = onnx.load(path)
    row = Row(path.stem, cores(model), len(model.graph.node), {}, {}, {})
    with tempfile.TemporaryDirectory(dir=tools.WORK) as scratch:
        for target, arguments in TARGETS.items():
            written = Path(scratch) / "fused.onnx"
            done = tools.run([fix, "--isolated", *arguments, path, "-o", written])
            row.left[target], row.after[target], row.faults[target] = row.cores, row.nodes, ""
            if done.status:
                row.faults[target] = done.last_words()
                continue
            fused = onnx.load(written)
            row.left[target], row.after[target] = cores(fused), len(fused.graph.node)
            row.faults[target] = _difference(path, written)
    return row


def _difference(path, fused) -> str:
    """Returns how the outputs of two models differ on inputs in the .npz file beside `path`; "" if they are equal."""
    runs = collections.defaultdict(dict)
    for key, value in np.load(path.with_suffix(".npz")).items():
        number, name = key.split(".", 1)
        runs[number][name] = value
    original = runner.session(str(path))
    try:
        session = runner.session(str(fused))
        for feeds in runs.values():
            expected, got = runner.run_session(original, feeds), runner.run_session(session, feeds)
            largest = max((np.abs(array).max(initial=0) for array in expected if array.dtype.kind == "f"), default=1)
            if different := values.difference(expected, got, rtol=TOLERANCE, atol=TOLERANCE * float(largest)):
                return different
    except Exception as error:  # noqa: BLE001 – onnxruntime raises a dozen kinds, some of them bare
        return " ".join(str(error).split())[:300]
    return ""


def cores(model: onnx.ModelProto) -> int:
    """Returns the number of attention cores in a model, its subgraphs and functions."""
    users = collections.defaultdict(list)
    for node in runner.nodes(model):
        for at, name in enumerate(node.input):
            users[name].append((node, at))
    return sum(_reaches_product(node.output[0], users) for node in runner.nodes(model) if node.op_type == "Softmax")


def _reaches_product(name, users) -> bool:
    todo, seen = [name], set()
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        for node, at in users[name]:
            if node.op_type == "MatMul" and at == 0:
                return True
            if node.op_type in BETWEEN:
                todo += node.output
    return False
