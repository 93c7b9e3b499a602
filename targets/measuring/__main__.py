"""`targets/measure`: runs ONNX's node tests in a runtime, and writes what it takes into its target file."""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

from conformance import tools

from . import cases, judge, learn, outcomes, written

# The packages that each version needs, pinned; the first gives the version. The opset is the newest it loads.
VERSIONS = {
    "onnxruntime": {
        "1.31": (26, ["onnxruntime==1.31.1", "numpy==2.4.6"]),
        "1.20": (21, ["onnxruntime==1.20.1", "numpy==2.4.6"]),
        "1.15": (19, ["onnxruntime==1.15.1", "numpy==1.26.4"]),
    },
    "opencv": {"5.0": (26, ["opencv-python-headless==5.0.0.93", "numpy==2.4.6"])},
    "openvino": {"2026.4": (26, ["openvino==2026.4.1", "numpy==2.4.6"])},
}
# What a runtime says where it has no kernel, rather than that it failed.
NO_KERNEL = {"onnxruntime": "NOT_IMPLEMENTED", "opencv": "refused", "openvino": "refused"}
IR = {"onnxruntime": {"1.31": 13, "1.20": 10, "1.15": 8}}


def main() -> int:
    parser = argparse.ArgumentParser(prog="targets/measure", description=__doc__)
    parser.add_argument("runtime", choices=sorted(outcomes.RUNTIMES))
    parser.add_argument("version", nargs="?", help="one of those that the script pins [default: the newest]")
    parser.add_argument("--python", type=Path, help="a Python that has the runtime, rather than an environment of its own")
    parser.add_argument("--judge", action="store_true", help="write nothing; hold the profile there is against the runtime")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args()
    known = VERSIONS[arguments.runtime]
    version = arguments.version or max(known, key=lambda text: [int(part) for part in text.split(".")])
    limit, packages = known[version]
    python = arguments.python or environment(arguments.runtime, version, packages)
    chosen = judge.newest(cases.collect(arguments.jobs), limit)
    ran = run(python, arguments.runtime, version, chosen)
    if not arguments.judge:
        write(arguments.runtime, version, limit, [case for case in chosen if not case.is_judge], ran)
    report(arguments.runtime, version, chosen, ran)
    return 0


def environment(runtime: str, version: str, packages: list[str]) -> Path:
    """A virtual environment with the runtime alone; its Python."""
    folder = tools.WORK / "targets" / f"{runtime}-{version}"
    python, stamp = folder / "bin/python", folder / "installed"
    if not stamp.exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([python, "-m", "pip", "--disable-pip-version-check", "install", "-q", *packages], check=True)
        stamp.touch()
    return python


def run(python: Path, runtime: str, version: str, chosen) -> dict[str, str]:
    """The outcome of each case, by its name; kept, since a runtime says the same again."""
    kept = tools.WORK / "targets" / f"{runtime}-{version}.jsonl"
    kept.parent.mkdir(parents=True, exist_ok=True)
    known = {}
    if kept.exists():
        known = {said["case"]: said["outcome"] for said in map(json.loads, kept.read_text().splitlines())}
    missing = [case for case in chosen if case.name not in known]
    if missing:
        asked = "".join(json.dumps(case.asked) + "\n" for case in missing)
        with kept.open("a") as out:
            subprocess.run([python, Path(outcomes.__file__), runtime, cases.FOLDER], input=asked, text=True, stdout=out,
                           stderr=subprocess.DEVNULL, check=True)
        return run(python, runtime, version, chosen)
    return {case.name: known[case.name] for case in chosen}


def write(runtime: str, version: str, limit: int, made_from, ran):
    """The section of the version: what ran gives an example for each node; what did not, for a node that is alone."""
    examples = []
    for case in made_from:
        equal = ran[case.name] == "equal" or (None if NO_KERNEL[runtime] not in ran[case.name] else False)
        if equal or len(case.nodes) == 1:
            examples += [(case.test, node, equal) for node in case.nodes]
    newest_ir = IR.get(runtime, {}).get(version)
    versions = f"opset ..={limit}" + (f"  ir ..={newest_ir}" if newest_ir else "")
    source = f"{written.SOURCE} of onnx 1.23.2 in {VERSIONS[runtime][version][1][0].replace('==', ' ')}"
    text = written.section(source, time.strftime("%Y-%m-%d"), versions, learn.lines(examples))
    written.replace(tools.ROOT / "targets" / f"{runtime}.target", version, text)


def report(runtime: str, version: str, chosen, ran):
    """The answers of the profile beside what ran; the cases it was not made from are what counts."""
    found = judge.answers(tools.binary("onnx-lint"), f"{runtime}={version}", chosen, tools.ROOT / "targets")
    rows = [(label, [(found[case.name], ran[case.name] == "equal") for case in chosen if case.is_judge == is_judge])
            for label, is_judge in (("made from", False), ("judged by", True))]
    print(f"{runtime} {version}: {sum(said == 'equal' for said in ran.values())} of {len(ran)} cases run with equal results")
    print(judge.table(rows))
    for case in chosen:
        pair = found[case.name], ran[case.name] == "equal"
        if case.is_judge and pair in ((judge.YES, False), (judge.NO, True)):
            print(f"  {pair[0]}: {case.name}: {ran[case.name]}")


if __name__ == "__main__":
    sys.exit(main())
