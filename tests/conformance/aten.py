"""Converts PyTorch's operator tests and TorchScript archives and graphs, and compares outputs with PyTorch."""

import os
import tempfile
from pathlib import Path

import numpy as np

from . import runner, tools

# The folder of archives, each with an .npz file of inputs and outputs. Set ATEN_CASES to test another folder.
CASES = Path(os.environ.get("ATEN_CASES") or tools.ROOT / "tests/models/aten")
TRACED = tools.ROOT / "tests/models/traced"
ARCHIVES = tools.ROOT / "tests/models/archives"
MODELS = tools.ROOT / "tests/models/torch-exports"
OPSETS = (18, 13)
# Sizes of symbolic dimensions, by axis.
SIZES = (3, 7, 2, 5)


def run(options) -> bool:
    fix = tools.binary("onnx-fix")
    passed = True
    with tempfile.TemporaryDirectory(dir=tools.WORK) as scratch:
        out = Path(scratch) / "out.onnx"
        for opset in OPSETS:
            cases = [*sorted(CASES.glob("*.pt2")), *sorted(TRACED.glob("*.torchir.txt")), *sorted(ARCHIVES.glob("*.pt"))]
            results = [(case.name, *_case(fix, case, opset, out)) for case in cases if _numbers(case).exists()]
            wrong = [f"{name}: {why}" for name, verdict, why in results if verdict == "wrong"]
            right = sum(verdict == "right" for _, verdict, _ in results)
            refused = [f"{name}: {why}" for name, verdict, why in results if verdict == "refused"]
            print(f"opset {opset}: {right} right, {len(wrong)} wrong, {len(refused)} refused of {len(results)}")
            if wrong:
                print(f"WRONG:\n{options.listed(wrong)}")
            if refused and options.verbose:
                print(f"refused:\n{options.listed(refused)}")
            passed &= options.floors.share(f"right at {opset}", right, len(results)) and not wrong
        rows = [(model.stem, *_model(fix, model, out)) for model in sorted(MODELS.glob("*.pt2"))]
        print(tools.table(("program", "nodes", "PyTorch exporter's nodes", "max difference"), rows))
        passed &= options.floors.share("models equal", sum(row[3] != "WRONG" for row in rows), len(rows))
    return passed


def _case(fix, case: Path, opset: int, out: Path) -> tuple[str, str]:
    """Returns the verdict on a converted archive, whose outputs must equal PyTorch's, and the reason."""
    out.unlink(missing_ok=True)
    done = tools.run([fix, case, *_weights(case), *_shapes(case), "--opset", opset, "-o", out])
    if done.status != 0:
        return ("wrong" if done.crashed else "refused"), done.last_words()
    data = np.load(_numbers(case))
    expected = [data[f"out{index}"] for index in range(sum(name.startswith("out") for name in data))]
    try:
        names = _inputs(out)
        given = {name: _in_parts(data[f"in{index}"]) for index, name in enumerate(names)}
        got = runner.in_runtime(str(out), given, optimize=True)
    except Exception as error:  # noqa: BLE001 – onnxruntime raises a dozen kinds, some of them bare
        return "wrong", " ".join(str(error).split())[-200:]
    if len(got) != len(expected):
        return "wrong", f"{len(got)} outputs, not {len(expected)}"
    for one, other in zip(got, expected):
        one, other = np.asarray(one), _in_parts(other)
        if (one.dtype, one.shape) != (other.dtype, other.shape):
            return "wrong", f"{one.dtype}{list(one.shape)}, not {other.dtype}{list(other.shape)}"
        exact = other.dtype.kind != "f"
        close = (one == other).all() if exact else np.allclose(one, other, rtol=2e-3, atol=2e-4, equal_nan=True)
        if not close:
            return "wrong", "values"
    return "right", ""


def _numbers(case: Path) -> Path:
    """Returns the file with the inputs, and the outputs computed by PyTorch."""
    return case.with_name(case.name.removesuffix(".torchir.txt").removesuffix(".pt2").removesuffix(".pt") + ".npz")


def _weights(case: Path) -> list:
    """Returns the arguments `--weights FILE` for a printed graph, which must have a weights file; [] for an archive."""
    kinds = (".pth", ".pt", ".safetensors") if case.suffix == ".txt" else ()
    found = [_numbers(case).with_suffix(kind) for kind in kinds]
    return ["--weights", next(path for path in found if path.exists())] if found else []


def _shapes(case: Path) -> list:
    """Returns the arguments `--input-shape` for a TorchScript archive, with a dynamic first axis; [] for other cases."""
    if case.suffix != ".pt":
        return []
    inputs = {name: array for name, array in np.load(_numbers(case)).items() if name.startswith("in")}
    dims = {name: ",".join(["batch", *map(str, array.shape[1:])][: array.ndim]) for name, array in inputs.items()}
    return [part for name, array in inputs.items() for part in ("--input-shape", f"{name}={dims[name]}:{array.dtype}")]


def _in_parts(array: np.ndarray) -> np.ndarray:
    """Converts complex numbers to the representation in models: a last axis of size 2."""
    if array.dtype.kind != "c":
        return array
    return np.stack([array.real, array.imag], -1)


def _inputs(path: Path) -> list[str]:
    import onnx

    return [value.name for value in onnx.load(path, load_external_data=False).graph.input]


def _model(fix, program: Path, out: Path) -> tuple:
    """Returns the node counts of our conversion and of PyTorch's, and the max difference of their outputs, or WRONG."""
    import onnx

    out.unlink(missing_ok=True)
    done = tools.run([fix, program, "-o", out])
    sibling = program.with_suffix("").with_suffix(".dyn18.onnx")
    theirs = onnx.load(sibling)
    if done.status != 0:
        return "-", len(theirs.graph.node), "WRONG"
    ours = onnx.load(out)
    random, sizes, feeds = np.random.default_rng(0), {}, []
    for value in theirs.graph.input:
        dims = value.type.tensor_type.shape.dim
        # Exports have several names for one batch dimension, so dynamic axes with the same index get the same size.
        for axis, dim in enumerate(dims):
            if dim.dim_param:
                sizes.setdefault(dim.dim_param, SIZES[axis % len(SIZES)])
        shape = [dim.dim_value if dim.HasField("dim_value") else sizes[dim.dim_param] for dim in dims]
        dtype = onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
        is_mask = dtype.kind == "i" and feeds
        given = np.ones(shape, dtype) if is_mask else random.integers(0, 20, shape) if dtype.kind == "i" else random.standard_normal(shape)
        feeds.append(given.astype(dtype))
    try:
        pair = [
            runner.in_runtime(str(path), dict(zip([value.name for value in model.graph.input], feeds)), optimize=True)
            for path, model in ((sibling, theirs), (out, ours))
        ]
    except Exception as error:  # noqa: BLE001 – as above
        print(" ".join(str(error).split())[-300:])
        return len(ours.graph.node), len(theirs.graph.node), "WRONG"
    apart = max(np.abs(a.astype(float) - b.astype(float)).max() for a, b in zip(*pair))
    limit = 2e-2 if any(a.dtype == np.float16 for a in pair[0]) else 1e-4
    return len(ours.graph.node), len(theirs.graph.node), f"{apart:.1g}" if apart <= limit else "WRONG"
