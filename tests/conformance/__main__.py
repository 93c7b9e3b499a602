"""Runs the named conformance checks, or all of them."""

import argparse
import importlib
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from . import tools
from .floors import Floors

# Name on the command line → module. Each module has `run(options) -> bool`, which returns True if all limits hold.
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
    "invalid": "invalid",
    "aten": "aten",
    "targets": "targets",
    "fusion": "fusion",
}

# Run only if named: they install packages or take long.
ON_DEMAND = {"comparison": "comparison", "peers": "peers", "peer-cases": "peer_cases", "latency": "latency", "float16": "float16"}


@dataclass(frozen=True)
class Options:
    """Options of a check."""

    sample: bool
    verbose: bool
    jobs: int
    floors: Floors
    # For some checks: folders of additional models, whether to run only those, and extra arguments of onnx-fix.
    models: tuple[Path, ...] = ()
    only_models: bool = False
    fix_arguments: tuple[str, ...] = ()
    # For `invalid`: chooses the mutants.
    seed: int = 1

    def listed(self, lines: list[str], first: int = 10) -> str:
        """Returns the lines, indented: all of them if verbose, else the first few."""
        shown = lines if self.verbose else lines[:first]
        more = [f"  … and {len(lines) - len(shown)} more (--verbose)"] if len(shown) < len(lines) else []
        return "\n".join([*(f"  {line}" for line in shown), *more])


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests/conformance/run", description=__doc__)
    parser.add_argument("checks", nargs="*", metavar="CHECK", help=", ".join((*CHECKS, *ON_DEMAND)))
    parser.add_argument("--sample", action="store_true", help="run a fixed sample of the cases, with its own floors (for CI)")
    parser.add_argument("-v", "--verbose", action="store_true", help="list every failure and refusal")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="number of processes (default: one per core)")
    parser.add_argument("--models", type=Path, action="append", default=[], metavar="FOLDER",
                        help="for fusion, comparison, peers, latency and float16: a folder of additional models (repeatable)")
    parser.add_argument("--only-models", action="store_true", help="for comparison, peers and latency: run only the models of --models")
    parser.add_argument("--fix-argument", action="append", default=[], metavar="ARGUMENT",
                        help="for comparison, peers, latency and float16: an argument of onnx-fix, like --fix-argument=--no-optimize")
    parser.add_argument("--seed", type=int, default=1, help="for invalid: chooses the mutants (default: 1, which the floors are for)")
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
                          arguments.only_models, tuple(arguments.fix_argument), arguments.seed)
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
