"""Exports the modules of this folder with every exporter, and compares ONNX Runtime with PyTorch.

Usage: python export.py OUT_DIR [CASE…]. Writes NAME.ts17.onnx, NAME.dynamo.onnx, NAME.pt2, NAME.torchir.txt and their
logs, like `../export.py`. With another release of PyTorch than CURRENT, the file names contain the release, as in
NAME.torch113.ts17.onnx, and exporters that the release lacks are skipped. The file PROVED (default: proved.tsv) gets a
row for each ONNX model: the numbers of inputs for which ONNX Runtime computes the same as PyTorch (`right`), computes
another result (`differs`), and fails, and the largest difference (`most`).
"""
import os
import sys
import traceback

import numpy as np
import onnxruntime
import torch

from cases import CASES
import carried, loops, models, precision, shapes_baked, shapes_right, structure, values, vision, writes  # noqa: E401, F401

torch.set_num_threads(1)
CURRENT = "2.15"
TORCH = torch.__version__.split("+")[0].rsplit(".", 1)[0]
RELEASE = "" if TORCH == CURRENT else f".torch{TORCH.replace('.', '')}"
HAS_EXPORT = hasattr(torch, "export")
# arguments of the exporter that old releases do not have
TRACING = {"dynamo": False} if HAS_EXPORT else {}
OPSET = {} if RELEASE else {"opset_version": 18}


def attempt(path, run):
    """Runs `run` in a child process; writes the output to `path`.log, and deletes an empty log."""
    child = os.fork()
    if child == 0:
        log = os.open(path + ".log", os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
        os.dup2(log, 1)
        os.dup2(log, 2)
        status = 0
        try:
            with torch.no_grad():
                run()
        except BaseException:
            traceback.print_exc()
            status = 1
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if os.path.getsize(path + ".log") == 0:
        os.remove(path + ".log")
    return {0: "ok", 1: "failed"}.get(status, f"crashed ({status})")


def flat(values):
    if isinstance(values, torch.Tensor):
        return [values]
    if isinstance(values, dict):
        values = values.values()
    if isinstance(values, (list, tuple)) or hasattr(values, "__iter__"):
        return [one for value in values for one in flat(value)]
    return [torch.tensor(values)]


def prove(model, path, inputs):
    """Returns, for inputs of the ONNX model: how many are right, how many differ, the max difference, how many fail."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    try:
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    except Exception:
        return 0, 0, 0.0, len(inputs)
    right, differs, most, fails = 0, 0, 0.0, 0
    for args in inputs:
        try:
            with torch.no_grad():
                wanted = flat(model(*[a.clone() if isinstance(a, torch.Tensor) else a for a in args]))
        except (RuntimeError, AttributeError):
            # PyTorch itself rejects this input, or this release lacks a function that the module calls.
            fails += 1
            continue
        given = flat(list(args))
        # The exporter may drop unused inputs, so only the inputs of the graph get values.
        names = [i.name for i in session.get_inputs()]
        feed = {n: (given[int(n[2:])] if n[:2] == "in" and n[2:].isdigit() else g).numpy() for n, g in zip(names, given)}
        try:
            got = session.run(None, feed)
        except Exception:
            fails += 1
            continue
        same = len(got) == len(wanted) and all(
            g.shape == tuple(w.shape) and np.allclose(g.astype("float64"), w.numpy().astype("float64"), rtol=1e-2 if w.dtype == torch.float16 else 1e-3,
                                                      atol=1e-2 if w.dtype == torch.float16 else 1e-4, equal_nan=True)
            for g, w in zip(got, wanted))
        if same:
            right += 1
        else:
            differs += 1
            pairs = [(g, w) for g, w in zip(got, wanted) if g.shape == tuple(w.shape) and g.size]
            by = [float(np.nanmax(np.abs(g.astype("float64") - w.numpy().astype("float64")))) for g, w in pairs]
            most = max([most, *[b for b in by if b == b]])
    return right, differs, most, fails


def export_case(name, out, proved):
    cls, args, dynamic, others = CASES[name]
    torch.manual_seed(0)
    model = cls().eval()
    names = [f"in{i}" for i in range(len(args))]
    axes = {names[i]: dims for i, dims in (dynamic or {}).items()}
    path = f"{out}/{name}{RELEASE}"
    said = {}
    said["ts17"] = attempt(f"{path}.ts17", lambda: torch.onnx.export(
        model, args, f"{path}.ts17.onnx", **TRACING, opset_version=17, input_names=names if len(flat(list(args))) == len(args) else None,
        dynamic_axes=axes, verbose=True))
    if HAS_EXPORT:
        free = getattr(torch.export.Dim, "DYNAMIC", torch.export.Dim.AUTO)
        shapes = tuple({d: free for d in dynamic[i]} if i in dynamic else None
                       for i in range(len(args))) if dynamic else None
        said["dynamo"] = attempt(f"{path}.dynamo", lambda: torch.onnx.export(
            model, args, f"{path}.dynamo.onnx", dynamo=True, **OPSET, dynamic_shapes=shapes,
            external_data=False, verbose=False))
        said["pt2"] = attempt(f"{path}.pt2", lambda: torch.export.save(
            torch.export.export(model, args, dynamic_shapes=shapes, strict=False), f"{path}.pt2"))
    said["torchir"] = attempt(f"{path}.torchir", lambda: open(f"{path}.torchir.txt", "w").write(
        str(torch.jit.trace(model, args, strict=False, check_trace=False).inlined_graph)))
    for kind in ("ts17", "dynamo"):
        if not os.path.exists(f"{path}.{kind}.onnx"):
            continue
        r, d, most, f = prove(model, f"{path}.{kind}.onnx", [args, *others])
        proved.write(f"{name}{RELEASE}.{kind}.onnx\t{r}\t{d}\t{most:.3g}\t{f}\n")
        proved.flush()
        said[kind] += f" right {r} differs {d} fails {f}"
    return said


if __name__ == "__main__":
    with open(os.environ.get("PROVED", "proved.tsv"), "w") as proved:
        proved.write("artifact\tright\tdiffers\tmost\tfails\n")
        for name in sys.argv[2:] or CASES:
            print(name, export_case(name, sys.argv[1], proved), flush=True)
