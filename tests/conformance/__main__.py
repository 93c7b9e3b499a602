"""`tests/conformance/run`: runs the checks that are named, all of them if none is."""

import argparse
import importlib
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from . import tools
from .floors import Floors

# Name on the command line → module; each has `run(options) -> bool`, true where every limit holds.
CHECKS = {
    "roundtrip": "roundtrip",
    "lint": "lint_clean",
    "lint-speed": "lint_speed",
    "pitfalls": "pitfalls",
    "fixes": "fixes",
    "convert": "convert",
    "convert-free": "convert_free",
    "realmodels": "convert_models",
    "infer": "infer",
    "infer-models": "infer_models",
    "eval": "evaluate",
    "aten": "aten",
    "targets": "targets",
}

# Run only where they are named: they install or take much.
ON_DEMAND = {"comparison": "comparison", "peers": "peers", "peer-cases": "peer_cases", "latency": "latency", "float16": "float16"}


@dataclass(frozen=True)
class Options:
    """How to run a check: a fixed sample or the whole, every failure listed or the first few, in how many processes;
    and what it must reach."""

    sample: bool
    verbose: bool
    jobs: int
    floors: Floors
    # Of the checks on demand: folders of further models, whether only those, and further arguments of onnx-fix.
    models: tuple[Path, ...] = ()
    only_models: bool = False
    fix_arguments: tuple[str, ...] = ()

    def listed(self, lines: list[str], first: int = 10) -> str:
        """The lines, indented: all of them if verbose, else the first few."""
        shown = lines if self.verbose else lines[:first]
        more = [f"  … and {len(lines) - len(shown)} more (--verbose)"] if len(shown) < len(lines) else []
        return "\n".join([*(f"  {line}" for line in shown), *more])


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests/conformance/run", description=__doc__)
    parser.add_argument("checks", nargs="*", metavar="CHECK", help=", ".join((*CHECKS, *ON_DEMAND)))
    parser.add_argument("--sample", action="store_true", help="a fixed part of the cases, with floors of its own: for CI")
    parser.add_argument("-v", "--verbose", action="store_true", help="list every failure and refusal")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes (default: one for each core)")
    parser.add_argument("--models", type=Path, action="append", default=[], metavar="FOLDER",
                        help="of peers, latency and float16: a folder of further models; may be given more than once")
    parser.add_argument("--only-models", action="store_true", help="of peers and latency: those of --models alone")
    parser.add_argument("--fix-argument", action="append", default=[], metavar="ARGUMENT",
                        help="of peers, latency and float16: an argument for onnx-fix, as in --fix-argument=--no-optimize")
    arguments = parser.parse_args()
    modules = {**CHECKS, **ON_DEMAND}
    if unknown := set(arguments.checks) - set(modules):
        parser.error(f"no such check: {', '.join(sorted(unknown))}")

    failed = []
    for name in arguments.checks or CHECKS:
        watch = tools.Stopwatch()
        print(f"=== {name}", flush=True)
        floors = Floors(name, sample=arguments.sample)
        options = Options(arguments.sample, arguments.verbose, arguments.jobs, floors, tuple(arguments.models),
                          arguments.only_models, tuple(arguments.fix_argument))
        try:
            passed = importlib.import_module(f"conformance.{modules[name]}").run(options) & floors.all_held()
        except tools.NotBuilt as missing:
            print(missing)
            passed = False
        print(f"--- {name}: {'ok' if passed else 'FAILED'} ({watch})\n", flush=True)
        failed += [] if passed else [name]
    print(f"conformance: FAILED: {', '.join(failed)}" if failed else "conformance: all passed")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
