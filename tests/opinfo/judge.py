#!/usr/bin/env python3
"""judge.py FOLDER [options]: converts the cases of `export.py` by `onnx-fix` and compares them with PyTorch in ONNX Runtime.

Writes FOLDER/verdicts.tsv and prints tables. The verdicts are `right`, `wrong`, `refused` (onnx-fix does not convert
the case) and `unrun` (ONNX Runtime has no kernel of an operator for a type).
"""

import argparse
import re
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import torch

import tables
from workers import forked

# Rounding by type of the results: relative and absolute.
TOLERANCE = {torch.float16: (1e-2, 4e-3), torch.bfloat16: (5e-2, 3e-2)}
# PyTorch adds 16-bit numbers in 16 bits: sums near 0 have an error in proportion to the largest result.
SHARE_OF_LARGEST = {torch.float16: 2e-3, torch.bfloat16: 1.6e-2}
OTHER_TOLERANCE = (2e-3, 2e-4)
OPERATOR_SECONDS = 300
CONVERSION_SECONDS = 120
# Operators that may return the index of any of several equal elements.
UNORDERED = ("topk", "kthvalue", "sort", "argsort", "msort", "median", "nanmedian", "mode", "cummax", "cummin")
MISSING_KERNEL = ("NOT_IMPLEMENTED", "Could not find an implementation")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tool", type=Path, required=True, help="onnx-fix")
    parser.add_argument("--opsets", default="18")
    parser.add_argument("--only", default="", help="operators whose name contains this text")
    parser.add_argument("--modes", default="static,dynamic")
    parser.add_argument("--dtypes", default="", help="comma-separated; all by default")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(1)
    folders = [folder for folder in sorted(options.folder.iterdir()) if folder.is_dir() and options.only in folder.name]
    with tempfile.TemporaryDirectory() as scratch:
        parts = Path(scratch)
        forked(
            folders,
            lambda folder: _operator(folder, options, parts),
            OPERATOR_SECONDS,
            options.jobs,
            lambda folder, reason: _log(parts, folder.name, f"{folder.name}.all.0.static", "-", 0, "wrong", reason),
        )
        lines = [line for part in sorted(parts.glob("*.tsv")) for line in part.read_text().splitlines()]
    (options.folder / "verdicts.tsv").write_text("\n".join(lines) + "\n")
    tables.show(options.folder)


def _operator(folder: Path, options, parts: Path):
    """Judges all cases of an operator."""
    families = dict(line.split("\t")[:2] for line in (folder / "exports.tsv").read_text().splitlines())
    cases = sorted(folder.glob("*.pt2"))
    cases = [case for case in cases if case.stem.rsplit(".", 1)[1] in options.modes.split(",")]
    if options.dtypes:
        cases = [case for case in cases if case.stem.split(".")[-3] in options.dtypes.split(",")]
    for opset in map(int, options.opsets.split(",")):
        with tempfile.TemporaryDirectory() as scratch:
            reasons = _convert(options.tool, cases, opset, Path(scratch)) if cases else {}
            for case in cases:
                converted = Path(scratch) / (case.stem + ".onnx")
                if converted.exists():
                    verdict, reason = compare(converted, torch.load(case.with_suffix(".pt")))
                else:
                    verdict, reason = reasons[case]
                _log(parts, folder.name, case.stem, families[case.stem], opset, verdict, reason)


def _convert(tool: Path, cases, opset: int, out: Path) -> dict:
    """Converts all cases in one process, then each case without a result in a separate process.

    Returns the verdict and the reason of each case that was not converted.
    """
    def convert(cases):
        command = [tool, *cases, "--opset", str(opset), "--output-dir", out, "-q", "--jobs", "1"]
        return subprocess.run(command, capture_output=True, text=True, timeout=CONVERSION_SECONDS)

    try:
        done = convert(cases)
        text = done.stderr
        whole = done.returncode in (0, 1)
    except subprocess.TimeoutExpired:
        text, whole = "", False
    reasons = {}
    for block in re.split(r"\n(?=error)", text):
        for case in cases:
            if f"/{case.stem.rsplit('.', 1)[0]}.py:" in block and not (out / (case.stem + ".onnx")).exists():
                reasons.setdefault(case, ("refused", _first_line(block)))
    for case in cases:
        if case in reasons or whole and (out / (case.stem + ".onnx")).exists():
            continue
        try:
            done = convert([case])
            verdict = "refused" if done.returncode in (0, 1, 2) else "wrong"
            reasons[case] = verdict, _first_line(done.stderr) or f"exit status {done.returncode}"
        except subprocess.TimeoutExpired:
            reasons[case] = "refused", "conversion exceeds the time limit"
    return reasons


def _first_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.startswith("error")] or text.strip().splitlines()[-1:]
    return lines[0][:200] if lines else ""


def compare(path: Path, trials) -> tuple[str, str]:
    """Returns the verdict on a converted model, and the reason."""
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    model = _without_bfloat16(onnx.load(path))
    try:
        session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # noqa: BLE001 – onnxruntime raises a dozen kinds
        text = " ".join(str(error).split())
        if not any(mark in text for mark in MISSING_KERNEL):
            return "wrong", text[:200]
        return "unrun", f"{_outcome_in_float32(model, trials)}: {text[:160]}"
    return _compared(session, trials, path.name)


def _compared(session, trials, name: str) -> tuple[str, str]:
    """Returns the verdict on a loaded model, and the reason."""
    for number, (inputs, expected) in enumerate(trials):
        place = "" if number == 0 else f" at other sizes {[list(one.shape) for one in inputs]}"
        names = [one.name for one in session.get_inputs()]
        if len(names) != len(inputs):
            return "wrong", f"{len(names)} inputs, not {len(inputs)}"
        try:
            got = session.run(None, dict(zip(names, map(_array, inputs))))
        except Exception as error:  # noqa: BLE001 – as above
            return "wrong", " ".join(str(error).split())[:200] + place
        if len(got) != len(expected):
            return "wrong", f"{len(got)} outputs, not {len(expected)}" + place
        for ours, theirs in zip(got, expected):
            reason = _difference(np.asarray(ours), theirs)
            if reason == "values" and name.startswith(UNORDERED) and _selects_equal(inputs[0], ours, theirs):
                continue
            if reason:
                return "wrong", reason + place
    return "right", ""


def _outcome_in_float32(model, trials) -> str:
    """Returns whether a model of bfloat16, for which ONNX Runtime has no kernels, is right with float32 instead."""
    import onnxruntime as ort

    half, single = onnx.TensorProto.BFLOAT16, onnx.TensorProto.FLOAT

    def replace(message):
        if isinstance(message, onnx.TensorProto) and message.data_type == half:
            message.CopyFrom(onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(message).astype("float32"), message.name))
        elif isinstance(message, onnx.TypeProto.Tensor) and message.elem_type == half:
            message.elem_type = single
        elif isinstance(message, onnx.AttributeProto) and message.name in ("to", "dtype") and message.i == half:
            message.i = single
        for field, value in message.ListFields():
            if field.message_type:
                for child in value if isinstance(value, Sequence) else [value]:
                    replace(child)

    replace(model.graph)
    try:
        session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    except Exception:  # noqa: BLE001 – onnxruntime raises a dozen kinds
        return "no kernels"
    verdict, reason = _compared(session, trials, "")
    return f"{verdict} in float32 {reason}".strip()


def _array(tensor) -> np.ndarray:
    """Returns a tensor as models have it: complex numbers are pairs on a last axis, and bfloat16 is float32."""
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor.resolve_conj())
    return (tensor.float() if tensor.dtype == torch.bfloat16 else tensor.resolve_neg()).numpy()


def _difference(ours: np.ndarray, theirs) -> str:
    relative, absolute = TOLERANCE.get(theirs.dtype, OTHER_TOLERANCE)
    expected = _array(theirs)
    if (ours.dtype, ours.shape) != (expected.dtype, expected.shape):
        return f"{ours.dtype}{list(ours.shape)}, not {expected.dtype}{list(expected.shape)}"
    if ours.dtype.kind != "f":
        return "" if (ours == expected).all() else "values"
    finite = np.abs(expected[np.isfinite(expected)])
    if theirs.dtype in SHARE_OF_LARGEST and finite.size:
        absolute = max(absolute, SHARE_OF_LARGEST[theirs.dtype] * float(finite.max()))
    if np.allclose(ours, expected, rtol=relative, atol=absolute, equal_nan=True):
        return ""
    far = ~np.isclose(ours, expected, rtol=relative, atol=absolute, equal_nan=True)
    return f"values, such as {ours[far].flat[0]}, not {expected[far].flat[0]}"


def _selects_equal(data, ours: np.ndarray, theirs) -> bool:
    """Whether two tensors of indices select equal elements along one of the axes."""
    ours = torch.from_numpy(ours)
    for axis in range(data.dim()):
        rest = [size for at, size in enumerate(data.shape) if at != axis]
        ours_kept, theirs_kept = ours, theirs
        if list(ours.shape) == rest:
            ours_kept, theirs_kept = ours.unsqueeze(axis), theirs.unsqueeze(axis)
        try:
            if torch.equal(data.gather(axis, ours_kept), data.gather(axis, theirs_kept)):
                return True
        except RuntimeError:  # the indices do not belong to this axis
            continue
    return False


def _without_bfloat16(model):
    """Adds Casts so that bfloat16 inputs and outputs become float32, because NumPy lacks bfloat16."""
    half, single = onnx.TensorProto.BFLOAT16, onnx.TensorProto.FLOAT
    graph = model.graph
    before, behind = [], []
    for value in graph.input:
        if value.type.tensor_type.elem_type == half:
            before.append(onnx.helper.make_node("Cast", [value.name + "__float"], [value.name], to=half))
            value.name += "__float"
            value.type.tensor_type.elem_type = single
    for value in graph.output:
        if value.type.tensor_type.elem_type == half:
            behind.append(onnx.helper.make_node("Cast", [value.name], [value.name + "__float"], to=single))
            value.name += "__float"
            value.type.tensor_type.elem_type = single
    if before or behind:
        nodes = [*before, *graph.node, *behind]
        del graph.node[:]
        graph.node.extend(nodes)
    return model


def _log(parts: Path, operator: str, case: str, kind: str, opset: int, verdict: str, reason: str):
    with (parts / f"{operator}.tsv").open("a") as file:
        print(case, kind, opset, verdict, reason, sep="\t", file=file)


if __name__ == "__main__":
    main()
