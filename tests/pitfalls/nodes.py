"""Compares the node counts of `onnx-fix` and of PyTorch's exporter on torch.export programs.

Usage: python nodes.py PATH/TO/onnx-fix PROGRAM.pt2…. Converts each program to opset 18 by `onnx-fix` and by
torch.onnx.export(dynamo=True), and optimizes both models by `onnx-fix --optimize-for nodes`. Prints a table with the
number of nodes of both models, including those in subgraphs and functions; if our model has more nodes than PyTorch's,
also the operators that it has more of. Exits with 1 if one of our models has more nodes. Needs torch, onnx and
onnxscript.
`zoo.py OUT_DIR pt2` exports some programs, and `programs.py` compares the results.
"""
import contextlib
import io
import os
import subprocess
import sys
import tempfile
from collections import Counter

import onnx
import torch

torch.set_num_threads(1)
OPSET = 18


def fixed(fix, model, out):
    """Optimizes a model, or converts a program; raises RuntimeError with the first error of `onnx-fix`."""
    done = subprocess.run([fix, model, "--opset", str(OPSET), "--optimize-for", "nodes", "-o", out], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(next((line for line in done.stderr.splitlines() if line.startswith("error")), "onnx-fix failed"))
    return out


def exported(program, out):
    with torch.no_grad(), contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        torch.onnx.export(torch.export.load(program), (), out, dynamo=True, opset_version=OPSET)
    return out


def operators(path):
    """Returns the number of nodes of each operator in a model, including subgraphs and functions."""

    def within(graph):
        for node in graph.node:
            yield node.op_type
            for attribute in node.attribute:
                for body in (attribute.g, *attribute.graphs):
                    yield from within(body)

    model = onnx.load(path, load_external_data=False)
    return Counter(within(model.graph)) + Counter(node.op_type for function in model.functions for node in function.node)


def main():
    fix, *programs = sys.argv[1:]
    print("| program | onnx-fix | dynamo=True | more |\n|---|---|---|---|", flush=True)
    worse = False
    for program in programs:
        counts, said = [], []
        with tempfile.TemporaryDirectory() as scratch:
            model, peer = (os.path.join(scratch, f"{name}.onnx") for name in ("ours", "peer"))
            for source in (lambda: program, lambda: exported(program, peer)):
                try:
                    counts.append(operators(fixed(fix, source(), model)))
                except Exception as error:
                    counts.append(None)
                    said.append(" ".join(str(error).split())[:120])
        ours, theirs = counts
        if ours and theirs and ours.total() > theirs.total():
            worse = True
            said += [f"{operator} {count:+}" for operator, count in sorted((ours - theirs).items())]
        nodes = " | ".join(str(count.total()) if count else "–" for count in counts)
        print(f"| {os.path.basename(program)} | {nodes} | {' '.join(said)} |", flush=True)
    sys.exit(worse)


if __name__ == "__main__":
    main()
