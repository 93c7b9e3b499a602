"""What `onnx-fix` makes of programs of published models, beside PyTorch: python converted.py PATH/TO/onnx-fix OUT_DIR [OPSET] [NAME…]

Needs what `zoo.py` needs, whose models these are. Each is exported by torch.export (OUT_DIR/NAME.pt2, kept), converted by `onnx-fix`, and
run in ONNX Runtime beside PyTorch at the sizes that it was exported with and at others, where its axes are free. The same program
goes through torch.onnx.export(dynamo=True), too, and both models through `onnx-fix --optimize-for nodes`. Prints a table: on how many inputs
both compute the same (`right`), the greatest difference by the greatest element, the nodes of either, and what failed.
"""
import os
import subprocess
import sys
from collections import Counter

import numpy as np
import onnx
import onnxruntime
import torch
import zoo

# A batch and a length for each run; the first are those of the export.
SIZES = ((2, 8), (3, 8), (1, 12), (4, 5))
# As `zoo.py` has it: weights that nobody trained make large numbers, and what is compared is relative to them.
LIMIT = 2e-3


def fixed(fix, model, out, *options):
    """Runs `onnx-fix`; the last line that it says, where it fails."""
    done = subprocess.run([fix, model, "-o", out, *options], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(next((line for line in done.stderr.splitlines() + done.stdout.splitlines() if "error" in line), "onnx-fix failed"))


def nodes(path):
    """How many nodes of each operator a model has, in its bodies, too."""

    def within(graph):
        for node in graph.node:
            yield node.op_type
            for attribute in node.attribute:
                for body in (attribute.g, *attribute.graphs):
                    yield from within(body)

    return Counter(within(onnx.load(path, load_external_data=False).graph))


def beside_pytorch(model, build, path):
    """On how many inputs ONNX Runtime computes the same as PyTorch, on how many not, and how far they are apart at most."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    right, others, most = 0, [], 0.0
    for batch, length in SIZES:
        torch.manual_seed(batch)
        inputs = build(batch, length)
        try:
            expected = zoo.flat(model(*inputs))
        except Exception:
            continue  # what PyTorch itself refuses
        try:
            found = session.run(None, {slot.name: value.numpy() for slot, value in zip(session.get_inputs(), zoo.flat(inputs), strict=True)})
            gap = max(zoo.distance(a.numpy().astype(float), b.astype(float)) for a, b in zip(expected, found, strict=True))
            most = max(most, gap)
            right += gap < LIMIT
            if not gap < LIMIT:
                others.append(f"differs at {batch}, {length}")
        except Exception as error:
            others.append(f"fails at {batch}, {length}: {' '.join(str(error).split())[-120:]}")
    return right, others, most


def row(fix, name, out, opset):
    model, build, axes = zoo.made(name)
    path = f"{out}/{name}.pt2"
    if not os.path.exists(path):
        zoo.export(model, build(2, 8), axes, "pt2", path)
    right, others, most, ours, theirs = 0, [], 0.0, None, None
    plain, least, peer = (f"{out}/{name}.{kind}.onnx" for kind in ("plain", "ours", "theirs"))
    try:
        fixed(fix, path, plain, "--opset", opset)
        right, others, most = beside_pytorch(model, build, plain)
        fixed(fix, plain, least, "--optimize-for", "nodes")
        ours = nodes(least)
        again, beside, _ = beside_pytorch(model, build, least)
        if again != right or beside != others:
            others.append(f"with fewest nodes {again} right: {beside}")
    except Exception as error:
        others.append(str(error))
    try:
        torch.onnx.export(torch.export.load(path), (), path.replace(".pt2", ".dynamo.onnx"), dynamo=True, opset_version=max(18, int(opset)))
        fixed(fix, path.replace(".pt2", ".dynamo.onnx"), peer, "--optimize-for", "nodes", "--opset", opset)
        theirs = nodes(peer)
    except Exception as error:
        others.append(f"dynamo: {' '.join(str(error).split())[:80]}")
    more = ours - theirs if ours and theirs and ours.total() > theirs.total() else {}
    others += ["more: " + " ".join(f"{operator} +{count}" for operator, count in more.items())] if more else []
    counts = " | ".join(str(count.total()) if count else "–" for count in (ours, theirs))
    return f"| {name} | {right} of {right + sum('at ' in one for one in others)} | {most:.1g} | {counts} | {'; '.join(others)} |"


def main():
    fix, out, *rest = sys.argv[1:]
    opset = rest.pop(0) if rest and rest[0].isdigit() else "18"
    os.makedirs(out, exist_ok=True)
    print("| model | right | apart | nodes, onnx-fix | nodes, dynamo | |\n|---|---|---|---|---|---|", flush=True)
    for name in rest or sorted(file.removesuffix(".pt2") for file in os.listdir(out) if file.endswith(".pt2")):
        said = f"{out}/{name}.row"
        if zoo.attempt(f"{out}/{name}.export", lambda: open(said, "w").write(row(fix, name, out, opset))):
            print(f"| {name} | – | – | – | – | see {name}.log |", flush=True)
        else:
            print(open(said).read(), flush=True)


if __name__ == "__main__":
    main()
