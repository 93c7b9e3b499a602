"""Copies the output of export.py to exported/, without stack lines of PyTorch: python pack.py FROM_DIR [FOLDER]"""
import os
import re
import sys

import onnx

given = sys.argv[1]
here = sys.argv[2] if len(sys.argv) > 2 else os.path.dirname(os.path.abspath(__file__))
os.makedirs(f"{here}/exported", exist_ok=True)
VENV = re.compile(r"[^\s\"'()]*/lib/(python3\.\d+/)?site-packages")
NOISE = re.compile(r"^[WI]\d{4} .*(is not installed|flop counting)|^\[torch\.onnx\]|DeprecationWarning: You are using|"
                   r"^  said\[|FutureWarning: .*deprecated|^  warnings\.warn|DeprecationWarning: `torch\.jit")

# prefix of the kind, for exports by another release of PyTorch
RELEASE = re.compile(r"^torch\d+\.(?=\w+\.|pt2)")


def graph_nodes(graph):
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from graph_nodes(attribute.g)


for name in sorted(os.listdir(given)):
    kind = RELEASE.sub("", name.split(".", 1)[1])
    path = f"{given}/{name}"
    if os.path.getsize(path) == 0 or kind == "torchir.log":
        continue
    if kind in ("ts17.onnx", "dynamo.onnx"):
        model = onnx.load(path)
        for node in [n for g in [model.graph, *model.functions] for n in graph_nodes(g)]:
            lines = node.doc_string.split("\n")
            kept = [line for line in lines if "site-packages" not in line and "export.py" not in line]
            node.doc_string = "\n".join(kept).strip("\n") + ("\n" if any(kept) else "")
            for entry in node.metadata_props:
                entry.value = VENV.sub("/venv/lib/python3.11/site-packages", entry.value)
        del model.graph.value_info[:]
        onnx.save(model, f"{here}/exported/{name}")
    elif kind in ("torchir.txt", "ts17.log", "dynamo.log", "pt2.log"):
        lines = [line for line in open(path).read().split("\n") if not NOISE.search(line)]
        text = VENV.sub("/venv/lib/python3.11/site-packages", "\n".join(lines))
        # logs without an error are left out, and very long tracebacks, too
        if text.strip() and (kind != "pt2.log" or "Error" in text) and (kind != "dynamo.log" or "Error" in text):
            if kind in ("dynamo.log", "pt2.log") and len(text) > 12000:
                continue
            open(f"{here}/exported/{name}", "w").write(text)
