"""Compares `onnx-fix` with PyTorch on torch.export programs.

Usage: python programs.py PATH/TO/onnx-fix PROGRAM.pt2… [--opset N]…. Converts each program, and compares ONNX Runtime
with PyTorch on the saved inputs and, if the program has dynamic axes, on inputs of other sizes. Prints the programs
that differ, fail or are refused, then the number of equal programs. Needs torch, onnxruntime, and the libraries that
the programs use. `zoo.py OUT_DIR pt2` exports some programs.
"""
import argparse
import collections
import os
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnxruntime
import torch

torch.set_num_threads(1)
SIZES = (3, 5, 1, 8)


def flat(value):
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [one for part in value for one in flat(part)]
    if isinstance(value, dict):
        return [one for part in value.values() for one in flat(part)]
    return [] if value is None or isinstance(value, (int, float, str, bool)) else flat(value.to_tuple())


def other_inputs(program, number):
    """Returns inputs of other sizes, or None if all sizes are static. Non-floats are drawn from the saved inputs."""
    nodes = [node for node in program.graph.nodes if node.op == "placeholder"]
    nodes = [node for node in nodes if node.name in program.graph_signature.user_inputs]
    sizes = [size for node in nodes for size in getattr(node.meta["val"], "shape", ()) if isinstance(size, torch.SymInt)]
    symbols = {symbol for size in sizes for symbol in size.node.expr.free_symbols}
    if not symbols:
        return None
    given = {}
    for place, symbol in enumerate(sorted(symbols, key=str)):
        ranges = program.range_constraints.get(symbol)
        least = int(ranges.lower) if ranges else 2
        most = int(ranges.upper) if ranges and ranges.upper < 10**6 else 10**6
        given[symbol] = min(max(least, SIZES[(number + place) % len(SIZES)]), most)
    generator = torch.Generator().manual_seed(number)

    def other(node, example):
        value = node.meta["val"]
        if not isinstance(example, torch.Tensor):
            return example
        shape = [int(size.node.expr.subs(given)) if isinstance(size, torch.SymInt) else size for size in value.shape]
        if example.is_floating_point():
            return torch.randn(shape, generator=generator).to(example.dtype)
        places = torch.randint(0, max(1, example.numel()), shape, generator=generator)
        return example.reshape(-1)[places] if example.numel() else example.new_zeros(shape)

    args, kwargs = program.example_inputs
    spec = torch.utils._pytree.tree_flatten((args, kwargs))
    return torch.utils._pytree.tree_unflatten([other(node, one) for node, one in zip(nodes, spec[0])], spec[1])


def distance(expected, found):
    """Returns the max difference relative to the largest element: random weights make large numbers."""
    if tuple(expected.shape) != found.shape:
        return float("inf")
    if expected.is_complex():
        expected, found = torch.view_as_real(expected), found
    expected, found = expected.double().numpy(), found.astype(np.float64)
    same = (expected == found) | (np.isnan(expected) & np.isnan(found))
    gap = np.where(same, 0, np.abs(expected - found))
    return float(np.nan_to_num(gap, nan=np.inf).max(initial=0)) / max(1.0, float(np.abs(expected[np.isfinite(expected)]).max(initial=0)))


def held(program, fix, path, opset, out):
    done = subprocess.run([fix, path, "--opset", str(opset), "-o", out], capture_output=True, text=True)
    if done.returncode != 0 or not os.path.exists(out):
        said = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout + done.stderr)
        errors = sorted({line for line in said.splitlines() if line.startswith("error")})
        return ("refused" if done.returncode in (1, 2) else "crashed"), " | ".join(errors)[:600] or said.strip()[-300:]
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    try:
        session = onnxruntime.InferenceSession(out, options, providers=["CPUExecutionProvider"])
    except Exception as error:
        return "fails", " ".join(str(error).split())[-300:]
    tried = []
    for number in range(-1, len(SIZES)):
        args, kwargs = program.example_inputs if number < 0 else other_inputs(program, number) or (None, None)
        if args is None:
            break
        given = [one.detach().numpy().copy() for one in flat((args, kwargs))]
        try:
            # Use a new copy of the program for each run: a program may write to its buffers.
            expected = [one.detach() for one in flat(program.module()(*args, **kwargs))]
        except Exception:
            tried.append("alone")
            continue
        try:
            names = [one.name for one in session.get_inputs()]
            if len(names) != len(given):
                return "differs", f"{len(names)} inputs for {len(given)}"
            found = session.run(None, dict(zip(names, given)))
        except Exception as error:
            return "fails", " ".join(str(error).split())[-300:]
        half = any(one.dtype in (torch.float16, torch.bfloat16) for one in expected)
        gap = max((distance(one, other) for one, other in zip(expected, found)), default=0)
        if len(found) < len(expected) or gap > (3e-2 if half else 2e-3):
            return "differs", f"by {gap:.3g} at {[list(one.shape) for one in given]}"
        tried.append("equal")
    return ("equal" if "equal" in tried else "alone"), f"{tried.count('equal')} inputs, PyTorch itself refuses {tried.count('alone')}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("fix")
    parser.add_argument("programs", nargs="+")
    parser.add_argument("--opset", type=int, action="append")
    parser.add_argument("-v", "--verbose", action="store_true")
    options = parser.parse_args()
    total = collections.defaultdict(collections.Counter)
    with tempfile.TemporaryDirectory() as scratch, torch.no_grad():
        for path in options.programs:
            try:
                program = torch.export.load(path)
            except Exception as error:
                print(f"unread   {os.path.basename(path)}: {' '.join(str(error).split())[:200]}", flush=True)
                continue
            for opset in options.opset or [18, 13]:
                out = os.path.join(scratch, f"{opset}.onnx")
                if os.path.exists(out):
                    os.remove(out)
                verdict, why = held(program, options.fix, path, opset, out)
                total[opset][verdict] += 1
                if options.verbose or verdict != "equal":
                    print(f"{verdict:8} {opset} {os.path.basename(path)}: {why}", flush=True)
    for opset, verdicts in total.items():
        print(f"opset {opset}: {verdicts['equal']} equal of {sum(verdicts.values())}", dict(verdicts))
    sys.exit(any(verdicts["differs"] + verdicts["fails"] + verdicts["crashed"] for verdicts in total.values()))


main()
