"""`targets/measure`: runs ONNX's node tests in a runtime and writes its target file."""

import argparse
import os
import sys
import time
from pathlib import Path

from conformance import tools

from . import cases, judge, learn, runtimes, written

# Text in the outcome of a case that counts as rejected: for ONNX Runtime, a missing kernel; otherwise, any error.
REFUSED = {"onnxruntime": "NOT_IMPLEMENTED", "opencv": "refused", "openvino": "refused"}


def main() -> int:
    known = runtimes.known()
    parser = argparse.ArgumentParser(prog="targets/measure", description=__doc__)
    parser.add_argument("runtime", choices=sorted({runtime.name for runtime in known}))
    parser.add_argument("version", nargs="?", help="a pinned version [default: the newest]")
    parser.add_argument("--python", type=Path, help="Python interpreter with the runtime, instead of a separate environment")
    parser.add_argument("--judge", action="store_true", help="only evaluate the existing target file; do not change it")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args()
    versions = [runtime for runtime in known if runtime.name == arguments.runtime]
    runtime = next((one for one in versions if arguments.version in (None, one.version)), None)
    if runtime is None:
        parser.error(f"no such version: {', '.join(one.version for one in versions)} are pinned")
    python = arguments.python or runtime.python() or runtime.install()
    chosen = judge.newest(cases.collect(arguments.jobs), runtime.opset)
    ran = runtimes.kept_outcomes(runtime, chosen, python)
    if not arguments.judge:
        write(runtime, [case for case in chosen if not case.is_judge], ran)
    report(runtime, chosen, ran)
    return 0


def write(runtime: runtimes.Runtime, made_from, ran):
    """Writes the section of the version, derived from `made_from`: cases that are not used to evaluate profiles."""
    examples = [(case.test, case.nodes, ran[case.name] == "equal" or (False if REFUSED[runtime.name] in ran[case.name] else None))
                for case in made_from]
    versions = f"opset ..={runtime.opset}" + (f"  ir ..={runtime.ir}" if runtime.ir else "")
    source = f"{written.SOURCE} of onnx 1.23.2 in {runtime.packages[0].replace('==', ' ')}"
    text = written.section(source, time.strftime("%Y-%m-%d"), versions, learn.lines(examples))
    written.replace(tools.ROOT / "targets" / f"{runtime.name}.target", runtime.version, text)


def report(runtime: runtimes.Runtime, chosen, ran):
    """Compares the answers of the profile with the outcomes, separately for cases not used to derive it."""
    found = judge.answers(tools.binary("onnx-lint"), runtime.target, chosen, tools.ROOT / "targets")
    rows = [(label, [(found[case.name], ran[case.name] == "equal") for case in chosen if case.is_judge == is_judge])
            for label, is_judge in (("made from", False), ("judged by", True))]
    print(f"{runtime.label}: {sum(said == 'equal' for said in ran.values())} of {len(ran)} cases run with equal results")
    print(judge.table(rows))
    for case in chosen:
        pair = found[case.name], ran[case.name] == "equal"
        if case.is_judge and pair in ((judge.YES, False), (judge.NO, True)):
            print(f"  {pair[0]}: {case.name}: {ran[case.name]}")


if __name__ == "__main__":
    sys.exit(main())
