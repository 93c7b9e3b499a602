"""Judges every command on every model, and compares the verdicts with recorded ones."""

import argparse
import collections
import csv
import sys
from pathlib import Path

from conformance import parallel, tools

from .commands import COLUMNS
from .judge import RANKS, judge

MODELS = Path(__file__).with_name("models")
EXPECTED = "expected.tsv"
LIMITS = "limits.tsv"
COUNTED = ("short", "refused")

Verdicts = dict[str, dict[str, tuple[str, str]]]


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests/reports/run", description=__doc__)
    parser.add_argument("--models", type=Path, default=MODELS, metavar="DIR",
                        help=f"a folder of models, with the recorded {EXPECTED} and {LIMITS}, if any")
    parser.add_argument("--filter", default="", metavar="TEXT", help="only models whose name contains this")
    parser.add_argument("--record", action="store_true", help=f"write {EXPECTED} and {LIMITS}")
    parser.add_argument("-v", "--verbose", action="store_true", help="list all short, refused and rejected verdicts")
    parser.add_argument("--jobs", type=int, default=2, help="number of processes (default: 2)")
    arguments = parser.parse_args()

    watch = tools.Stopwatch()
    models = sorted(path for path in arguments.models.glob("*.onnx") if arguments.filter in path.name)
    found = parallel.map_isolated(judge, models, arguments.jobs)
    crash = dict.fromkeys(COLUMNS, ("short", "the process crashed"))
    verdicts = {model.stem: verdict or crash for model, verdict in zip(models, found)}
    if arguments.verbose:
        list_verdicts(verdicts)
    counts = count(verdicts)
    print_table(counts)
    if arguments.record:
        record(arguments.models, verdicts, counts)
        return 0
    passed = hold(arguments.models, verdicts)
    if not arguments.filter:
        passed &= hold_limits(arguments.models, counts)
    print(f"reports: {'ok' if passed else 'FAILED'} ({watch})")
    return not passed


def list_verdicts(verdicts: Verdicts):
    for model, row in verdicts.items():
        for column, (verdict, reason) in row.items():
            if RANKS[verdict]:
                print(f"{model:34} {column:8} {verdict:8} {reason}")


def count(verdicts: Verdicts) -> dict[str, collections.Counter]:
    """Counts the verdicts of each command."""
    return {column: collections.Counter(row[column][0] for row in verdicts.values()) for column in COLUMNS}


def print_table(counts):
    shown = [verdict for verdict in RANKS if verdict != "-"]
    rows = [[column, *(counts[column][verdict] for verdict in shown)] for column in COLUMNS]
    total = ["all", *(sum(row[index] for row in rows) for index in range(1, len(shown) + 1))]
    print(tools.table(["command", *shown], [*rows, total]))


def record(folder: Path, verdicts: Verdicts, counts):
    with (folder / EXPECTED).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerow(["model", *COLUMNS])
        writer.writerows([model, *(row[column][0] for column in COLUMNS)] for model, row in verdicts.items())
    with (folder / LIMITS).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerow(["command", *COUNTED])
        writer.writerows([column, *(counts[column][verdict] for verdict in COUNTED)] for column in COLUMNS)


def read(path: Path, key: str) -> dict[str, dict[str, str]]:
    if not path.exists():
        return {}
    with path.open(encoding="utf-8") as file:
        return {row[key]: row for row in csv.DictReader(file, delimiter="\t")}


def hold(folder: Path, verdicts: Verdicts) -> bool:
    """Returns True if no verdict is worse than the recorded one.

    A model without a record must not have the verdict `short`.
    """
    expected = read(folder / EXPECTED, "model")
    passed, better = True, 0
    for model, row in verdicts.items():
        for column, (verdict, reason) in row.items():
            known = expected.get(model, {}).get(column)
            # Without a record, every verdict except `short` passes.
            limit = RANKS[known] if known else RANKS["refused"]
            if RANKS[verdict] > limit:
                print(f"WORSE: {model}, {column}: {verdict}, recorded as {known or 'not judged'}: {reason}")
                passed = False
            better += bool(known) and RANKS[verdict] < limit
    if better:
        print(f"{better} verdicts are better than recorded: record them with tests/reports/run --record")
    return passed


def hold_limits(folder: Path, counts) -> bool:
    """Returns True if no command has more short or refused verdicts than its limits."""
    passed = True
    for column, row in read(folder / LIMITS, "command").items():
        for verdict in COUNTED:
            if counts[column][verdict] > int(row[verdict]):
                print(f"ABOVE ITS LIMIT: {column}: {counts[column][verdict]} {verdict}, the limit is {row[verdict]}")
                passed = False
    return passed


if __name__ == "__main__":
    sys.exit(main())
