"""The rewrites of other optimisers, each as a small model: how many nodes `onnx-fix` leaves of it.

`peer_cases.tsv` says how many those are, and where they are more than the peer leaves, why. A model begins with `at 20 `
where it is not of opset 17.
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
    failed, not_done = [], []
    with tempfile.TemporaryDirectory(dir=tools.WORK) as scratch:
        for case in cases:
            name = f"{case['peer']}: {case['rewrite']}"
            found = _nodes_left(fix, case["model"], Path(scratch))
            if found != case["nodes"]:
                failed.append(f"{name}: {found} nodes, not {case['nodes']}")
            if case["why not"]:
                not_done.append(f"{name}: {case['why not']}")
    print(f"{len(cases) - len(not_done)} of {len(cases)} rewrites of others are done")
    if not_done:
        print(f"Not done:\n{options.listed(not_done, first=40)}")
    if failed:
        print(f"Other than the table says:\n{options.listed(failed, first=40)}")
    return not failed


def _nodes_left(fix, text: str, scratch: Path) -> str:
    opset, graph = text[3:].split(" ", 1) if text.startswith("at ") else ("17", text)
    model, made = scratch / "case.onnxtxt", scratch / "made.onnx"
    model.write_text(f'<ir_version: 8, opset_import: ["" : {opset}]>\n{graph}\n')
    made.unlink(missing_ok=True)
    run = tools.run([fix, "--isolated", model, "-o", made])
    return str(peers.operators(onnx.load(made)).total()) if made.exists() else run.last_words()
