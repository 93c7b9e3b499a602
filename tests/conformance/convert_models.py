"""Converts real models to other opsets and back, and compares CPU time with onnx.version_converter."""

import sys
import tempfile
from pathlib import Path

import onnx
from onnx import TensorProto, helper

from . import models, opset, runner, tools

TARGETS = (11, 13, 15, 17, 21)
ROUND_TRIPS = ((17, 13, 17), (21, 11, 21), (13, 18, 13))
MOST_GROWTH = 1.05
CHAIN_NODES = 1000
SAMPLE = ("hf_bert.dyn18", "hf_bert.ts17", "silero_vad", "ch_ppocr_mobile_v2.0_cls_infer", "nn_transformer.dyn18")

# The converter runs as one process, like a user's script, and prints the CPU time of the conversion call alone.
CONVERTER = """
import sys, time, onnx, onnx.version_converter
model = onnx.load(sys.argv[1])
start = time.process_time()
converted = onnx.version_converter.convert_version(model, int(sys.argv[2]))
print(time.process_time() - start)
onnx.save(converted, sys.argv[3])
"""


def run(options) -> bool:
    fix = tools.binary("onnx-fix")
    chosen = [model for model in models.collect() if model.runs and (not options.sample or model.name in SAMPLE)]
    with tempfile.TemporaryDirectory(dir=tools.WORK) as scratch:
        converted = _convert_all(fix, chosen, Path(scratch), options)
        returned = _round_trips(fix, chosen, Path(scratch), options)
        return converted & returned & options.floors.factor("faster than the converter", _speed(fix, Path(scratch)))


def _convert_all(fix, chosen, scratch, options) -> bool:
    rows, failures, refusals = [], [], []
    for model in chosen:
        row = [model.name, opset.opset_of(model.load())]
        for target in TARGETS:
            conversion = opset.convert(fix, model.path, target, scratch / "converted.onnx")
            reason = conversion.failure or (conversion.model and _fault(model, conversion.model, target))
            if reason:
                failures.append(f"{model.name} → {target}: {reason}")
            refusals += [f"{model.name} → {target}: {blocker}" for blocker in conversion.blockers]
            row.append("WRONG" if reason else "refused" if conversion.blockers else len(conversion.model.graph.node))
        rows.append(row)
    print("Nodes after conversion:")
    print(tools.table(("model", "opset", *(f"→ {target}" for target in TARGETS)), rows))
    if refusals:
        print(f"blockers: {len(refusals)}\n{options.listed(refusals, first=40)}")
    if failures:
        print(f"failures: {len(failures)}\n{options.listed(failures, first=40)}")
    conversions = len(rows) * len(TARGETS)
    refused = sum(row.count("refused") for row in rows)
    return options.floors.share("not refused", conversions - refused, conversions) and not failures


def _fault(model, converted, target) -> str | None:
    """Returns the fault of a converted model: invalid, different outputs, or lost metadata; else None."""
    if reason := opset.illegality(converted, target):
        return f"illegal: {reason}"
    original = model.load()
    lost = [name for name in ("producer_name", "producer_version", "domain", "model_version", "doc_string")
            if getattr(original, name) != getattr(converted, name)]
    lost += [name for name in ("metadata_props", "training_info")
             if not all(entry in getattr(converted, name) for entry in getattr(original, name))]
    lost += [f"the {kind}s' names" for kind in ("input", "output")
             if [value.name for value in getattr(original.graph, kind)]
             != [value.name for value in getattr(converted.graph, kind)]]
    if lost:
        return f"lost {', '.join(lost)}"
    try:
        return runner.models_differ(str(model.path), converted.SerializeToString(), model.feeds())
    except Exception as error:  # noqa: BLE001 – a converted model that does not load is a finding
        return " ".join(str(error).split())[:300]


def _round_trips(fix, chosen, scratch, options) -> bool:
    """Converts each model to the opsets of each round trip, in order.

    Each round trip ends at the opset that it starts with.
    """
    rows, failures = [], []
    for model in chosen:
        row = [model.name]
        for trip in ROUND_TRIPS:
            stations, path = [], model.path
            for stage, target in enumerate(trip):
                written = scratch / f"stage{stage}.onnx"
                conversion = opset.convert(fix, path, target, written)
                if conversion.model is None:
                    break
                stations.append(conversion.model)
                path = written
            cell, failure = _verdict_of_trip(model, trip, stations, conversion)
            row.append(cell)
            failures += [f"{model.name} {_arrow(trip)}: {failure}"] if failure else []
        rows.append(row)
    print("Round trips, nodes before and after:")
    print(tools.table(("model", *map(_arrow, ROUND_TRIPS)), rows))
    if failures:
        print(f"failures: {len(failures)}\n{options.listed(failures, first=40)}")
    trips = [cell for _, *cells in rows for cell in cells]
    made = sum("→" in cell for cell in trips)
    return options.floors.share("round trips", made, len(trips)) and not failures


def _verdict_of_trip(model, trip, stations, last) -> tuple[str, str | None]:
    if len(stations) < len(trip):
        return ("FAILED", last.failure) if last.failure else (f"refused at {trip[len(stations)]}", None)
    before, after = len(stations[0].graph.node), len(stations[-1].graph.node)
    cell = f"{before} → {after}"
    if after > MOST_GROWTH * before:
        return cell, f"grew from {before} to {after} nodes"
    try:
        return cell, runner.models_differ(stations[0].SerializeToString(), stations[-1].SerializeToString(), model.feeds())
    except Exception as error:  # noqa: BLE001
        return cell, " ".join(str(error).split())[:300]


def _arrow(trip) -> str:
    return "→".join(map(str, trip))


def _speed(fix, scratch) -> float:
    """Returns the speedup over onnx.version_converter, or 0 if either fails."""
    chain, written = scratch / "chain.onnx", scratch / "converted-chain.onnx"
    onnx.save(_chain(), chain)
    ours = tools.measure([fix, "--opset", 13, chain, "-o", written], repeat=3)
    theirs = tools.measure([sys.executable, "-c", CONVERTER, chain, 13, written], repeat=3)
    if ours.status != 0 or theirs.status != 0:
        print(f"speed: onnx-fix {ours.last_words()}; version_converter {theirs.last_words()}")
        return 0.0
    times = theirs.cpu_seconds / max(ours.cpu_seconds, 1e-3)
    print(tools.table((f"{CHAIN_NODES} nodes, 11 → 13", "CPU ms", "call only"),
                      [("onnx-fix", f"{ours.cpu_seconds * 1e3:.1f}", ""),
                       ("onnx.version_converter", f"{theirs.cpu_seconds * 1e3:.1f}", f"{float(theirs.stdout) * 1e3:.1f}"),
                       ("times faster", f"{times:.0f}", "")]))
    return times


def _chain() -> onnx.ModelProto:
    """Returns a chain that onnx's converter supports: activations, Unsqueeze and Squeeze."""
    cycle = (("Relu", {}), ("Unsqueeze", {"axes": [0]}), ("Sigmoid", {}), ("Squeeze", {"axes": [0]}))
    nodes, last = [], "x"
    for index in range(CHAIN_NODES):
        operator, attributes = cycle[index % len(cycle)]
        nodes.append(helper.make_node(operator, [last], [f"v{index}"], **attributes))
        last = f"v{index}"
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", 8]) for name in ("x", last)]
    graph = helper.make_graph(nodes, "chain", values[:1], values[1:])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 11)], ir_version=6)
