"""Compares `onnx-fix` and PyTorch's exporters on in-place writes and indexing.

Usage: python writes.py PATH/TO/onnx-fix OUT_DIR.

Exports each program below in three ways: by torch.export, converted by `onnx-fix`, and by torch.onnx.export with
dynamo=True and with dynamo=False. Compares each model in ONNX Runtime with PyTorch, on the inputs of the export and on
other inputs of the same sizes. Prints a table, and writes OUT_DIR/written_NAME.0.pt2, and its inputs and outputs to
OUT_DIR/written_NAME.0.npz, as in `tests/models/aten`.
"""
import contextlib
import io
import os
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import onnxruntime
import torch

onnxruntime.set_default_logger_severity(4)


def slice_assigned(x):
    y = x.clone()
    y[:, 1:3] = 0
    return y


def row_of_a_slice(x):
    y = x.clone()
    y[1:][0].add_(1)
    return y


def base_after_view(x):
    y = x * 1
    flat = y.view(-1)
    y.mul_(2)
    return flat


def through_transpose(x):
    y = x.clone()
    y.t()[0] = x.sum()
    return y


def through_diagonal(x):
    y = x.clone()
    y.diagonal().fill_(7)
    return y


def through_chunk(x):
    y = x.clone()
    left, right = y.chunk(2, 1)
    left.mul_(right)
    return y


def row_by_row(x):
    y = x.clone()
    for number, row in enumerate(y):
        row.add_(number)
    return y


def shifted_onto_itself(x):
    y = x.clone()
    y[1:] = y[:-1].clone()
    return y


def where_masked(x):
    y = x.clone()
    y[y > 0] = -1
    return y


def rows_masked(x):
    y = x.clone()
    y[x[:, 0] > 0] = x[0]
    return y


def filled_in_a_slice(x):
    y = x.clone()
    y[:, 1:].masked_fill_(x[:, 1:] > 0, 0)
    return y


def mask_read(x):
    return x[x > 0].sum() + x[x[:, 0] > 0].sum(0)


def put_at_indices(x):
    y = x.clone()
    y[torch.tensor([2, 0]), torch.tensor([1, 3])] = x[0, :2]
    return y


def put_and_added(x):
    y = torch.zeros_like(x)
    y.index_put_((torch.tensor([0, 0, 1]),), x[:3], accumulate=True)
    return y


def scattered_through_view(x):
    y = x.clone()
    y.view(-1).scatter_(0, (x.view(-1)[:3] > 0).long() * 4 + torch.arange(3), 9.0)
    return y


def negative_indices(x):
    return x[torch.tensor([-1, 0])][:, -2]


def written_and_read(x):
    y = x.clone()
    head = y[:, :2]
    before = head.sum()
    y.add_(1)
    return head * 2, before


PROGRAMS = [one for name, one in list(globals().items()) if callable(one) and getattr(one, "__module__", "") == __name__]


class Program(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


def drawn(seed):
    return torch.randn(4, 4, generator=torch.Generator().manual_seed(seed))


def verdict(path, function):
    """Returns `right`, `wrong`, or `fails in ONNX Runtime` for a model of a function."""
    try:
        session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        for seed in range(4):
            expected = function(drawn(seed))
            expected = expected if isinstance(expected, tuple) else (expected,)
            found = session.run(None, {session.get_inputs()[0].name: drawn(seed).numpy()})
            if not all(a.shape == b.shape and np.allclose(a, b, atol=1e-5) for a, b in zip([one.numpy() for one in expected], found, strict=True)):
                return "wrong"
    except Exception:
        return "fails in ONNX Runtime"
    return "right"


def exported(dynamo, function, path):
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            torch.onnx.export(Program(function), (drawn(0),), path, dynamo=dynamo)
    except Exception:
        return "no export"
    return verdict(path, function)


def main():
    fix, out = sys.argv[1:]
    os.makedirs(out, exist_ok=True)
    print("| program | onnx-fix | dynamo=True | dynamo=False |\n|---|---|---|---|")
    for function in PROGRAMS:
        case = os.path.join(out, f"written_{function.__name__}.0")
        with torch.no_grad(), tempfile.TemporaryDirectory() as scratch:
            torch.export.save(torch.export.export(Program(function), (drawn(0),), strict=False), case + ".pt2")
            results = function(drawn(0))
            results = results if isinstance(results, tuple) else (results,)
            np.savez(case + ".npz", in0=drawn(0).numpy(), **{f"out{at}": one.numpy() for at, one in enumerate(results)})
            path = os.path.join(scratch, "model.onnx")
            done = subprocess.run([fix, case + ".pt2", "-o", path], capture_output=True)
            ours = verdict(path, function) if done.returncode == 0 else "refused"
            theirs = [exported(dynamo, function, os.path.join(scratch, f"{dynamo}.onnx")) for dynamo in (True, False)]
        print(f"| `{function.__name__}` | {ours} | {theirs[0]} | {theirs[1]} |", flush=True)


if __name__ == "__main__":
    main()
