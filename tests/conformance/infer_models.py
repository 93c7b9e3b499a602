"""Compares shape inference on real models with onnx and ONNX Runtime: number of shapes, and CPU time."""

import sys
import tempfile
from pathlib import Path

import onnx

from . import facts, models, tools

REPEAT = 3
SAMPLE = ("hf_bert.ts17", "hf_mamba.dyn18", "silero_vad_16k_op15", "ch_PP-OCRv4_rec_infer", "nn_lstm.ts17")

# Each script runs as a process from file to file, like a user's script, and prints the CPU seconds of the call alone.
ONNX = """
import sys, time, onnx
model = onnx.load(sys.argv[1])
start = time.process_time()
inferred = onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
print(time.process_time() - start)
onnx.save(inferred, sys.argv[2])
"""
RUNTIME = """
import sys, time, onnx
from onnxruntime.tools.symbolic_shape_infer import SymbolicShapeInference
model = onnx.load(sys.argv[1])
start = time.process_time()
inferred = SymbolicShapeInference.infer_shapes(model, auto_merge=True)
print(time.process_time() - start)
onnx.save(inferred, sys.argv[2])
"""


def run(options) -> bool:
    fix = tools.binary("onnx-fix")
    chosen = [model for model in models.collect() if model.runs and (not options.sample or model.name in SAMPLE)]
    rows, failures, counted, speedups = [], [], [], {"onnx": [], "ONNX Runtime": []}
    with tempfile.TemporaryDirectory(dir=tools.WORK) as scratch:
        source, written = Path(scratch) / "in.onnx", Path(scratch) / "out.onnx"
        for model in chosen:
            _strip(model.load(), source)
            commands = ([fix, "--infer-shapes", "--no-optimize", source, "-o", written],
                        [sys.executable, "-c", ONNX, source, written], [sys.executable, "-c", RUNTIME, source, written])
            ours, by_onnx, by_runtime = (_infer(command, written) for command in commands)
            rows.append((model.name, ours[0], *(cell for _, *cells in (ours, by_onnx, by_runtime) for cell in cells[:3])))
            failures += [f"{model.name}: {reason}" for reason in _shortfalls(ours, by_onnx, by_runtime)]
            counted += [ours[:3]] if ours[0] != "-" else []
            for who, other in zip(speedups, (by_onnx, by_runtime)):
                speedups[who] += [other[3] / max(ours[3], 1.0)] if "-" not in (ours[3], other[3]) else []
    header = ("model", "values", *(f"{who} {what}" for who in ("onnx-fix", "onnx", "ORT")
                                   for what in ("shaped", "in inputs", "CPU ms")))
    print(tools.table(header, rows))
    print("shaped: every dimension is a number or a name; in inputs: without generated names")
    if failures:
        print(f"{len(failures)} failures:\n{options.listed(failures, first=40)}")
    values, shaped, in_inputs = (sum(column) for column in zip(*counted)) if counted else (0, 0, 0)
    known = [options.floors.share("shaped", shaped, values), options.floors.share("in inputs", in_inputs, values)]
    fast = [options.floors.factor(f"faster than {who}", min(times, default=0)) for who, times in speedups.items()]
    return all(known + fast) and not failures


def _strip(model: onnx.ModelProto, path: Path):
    """Saves the model without the exporter's value_info."""
    del model.graph.value_info[:]
    onnx.save(model, path)


def _infer(command, written: Path) -> tuple:
    """Returns (values, shaped, in inputs, CPU ms, error) of one tool; if the tool fails, dashes and the error."""
    written.unlink(missing_ok=True)
    done = tools.measure(command, repeat=REPEAT)
    if done.status != 0 or not written.exists():
        return "-", "-", "-", "-", done.last_words()
    return *facts.coverage(onnx.load(written)), round(done.cpu_seconds * 1e3, 1), ""


def _shortfalls(ours, by_onnx, by_runtime) -> list[str]:
    if ours[0] == "-":
        return [f"onnx-fix: {ours[4]}"]
    found = []
    for who, other in (("onnx", by_onnx), ("ONNX Runtime", by_runtime)):
        if other[0] == "-":
            continue
        found += [f"{what} {ours[column]}, {who} {other[column]}" for column, what in ((1, "shaped"), (2, "in inputs"))
                  if ours[column] < other[column]]
    return found
