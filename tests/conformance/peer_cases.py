"""Tests the rewrites of other optimizers, each on a small model: counts the nodes after `onnx-fix`.

`peer_cases.tsv` has the expected counts, and the reason if the count is above the peer's. A model starts with `at 20 ` if
its opset is 20 rather than 17.
"""

import csv
import tempfile
from pathlib import Path

import onnx

from . import peers, tools

CASES = Path(__file__).with_suffix(".tsv")


def run(options) -> bool:
    fix = tools.binary("onnx-fix")
    with CASES.open(encoding="utf-8") as file:
        cases = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    failed, unsupported = [], []
    with tempfile.TemporaryDirectory(dir=tools.WORK) as scratch:
        for case in cases:
            name = f"{case['peer']}: {case['rewrite']}"
            found = _nodes_left(fix, case["model"], Path(scratch))
            if found != case["nodes"]:
                failed.append(f"{name}: {found} nodes, not {case['nodes']}")
            if case["why not"]:
                unsupported.append(f"{name}: {case['why not']}")
    print(f"{len(cases) - len(unsupported)} of {len(cases)} rewrites of other optimizers are supported")
    if unsupported:
        print(f"Not supported:\n{options.listed(unsupported, first=40)}")
    if failed:
        print(f"Different from the table:\n{options.listed(failed, first=40)}")
    return not failed


def _nodes_left(fix, text: str, scratch: Path) -> str:
    opset, graph = text[3:].split(" ", 1) if text.startswith("at ") else ("17", text)
    model, made = scratch / "case.onnxtxt", scratch / "made.onnx"
    model.write_text(f'<ir_version: 8, opset_import: ["" : {opset}]>\n{graph}\n')
    made.unlink(missing_ok=True)
    run = tools.run([fix, "--isolated", model, "-o", made])
    return str(peers.operators(onnx.load(made)).total()) if made.exists() else run.last_words()
