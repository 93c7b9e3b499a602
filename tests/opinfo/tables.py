#!/usr/bin/env python3
"""tables.py FOLDER [FOLDER …]: prints the tables of verdicts for one or several judged folders."""

import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

VERDICTS = ("right", "wrong", "unrun", "refused")
REASONS = 60


def show(*folders: Path):
    lines = [line for folder in folders for line in (folder / "verdicts.tsv").read_text().splitlines()]
    rows = [line.split("\t") for line in lines if line]
    for title, key in (("family", lambda case, kind: kind), ("dtype", lambda case, kind: case.split(".")[-3])):
        table = defaultdict(Counter)
        for case, kind, opset, verdict, _ in rows:
            table[key(case, kind), case.rsplit(".", 1)[1], int(opset)][verdict] += 1
        print(f"{title:10} mode    opset " + " ".join(f"{verdict:>8}" for verdict in VERDICTS))
        for (name, mode, opset), counts in sorted(table.items()):
            share = 100 * counts["right"] / counts.total()
            counted = " ".join(f"{counts[verdict]:8}" for verdict in VERDICTS)
            print(f"{name:10} {mode:8} {opset:4} {counted}   of {counts.total()}: {share:.1f} %")
        print()
    for verdict in ("wrong", "unrun", "refused"):
        reasons, seen = defaultdict(list), set()
        # A case that is listed for opset 18 is not listed again for other opsets.
        for case, _, opset, found, reason in sorted(rows, key=lambda row: row[2] != "18"):
            if found == verdict and case not in seen:
                reasons[("" if opset == "18" else f"only at {opset}: ") + _kind(reason)].append(case)
                seen.add(case)
        print(f"{verdict}, by reason:")
        for reason, cases in sorted(reasons.items(), key=lambda item: -len(item[1]))[:REASONS]:
            print(f"{len(cases):6}  {reason}\n          {', '.join(sorted(set(cases))[:4])}")
    outcomes = Counter()
    for folder in folders:
        for file in folder.glob("*/exports.tsv"):
            for line in file.read_text().splitlines():
                case, _, outcome, _ = line.split("\t")
                outcomes[case.rsplit(".", 1)[1], re.sub(r",.*", "", outcome)] += 1
    print("exports:", ", ".join(f"{mode} {outcome} {count}" for (mode, outcome), count in sorted(outcomes.items())))


def _kind(reason: str) -> str:
    """Returns the reason without numbers and sizes."""
    return re.sub(r"-?\b\d[\d.e+-]*\b|\bnan\b|-?\binf\b", "N", re.sub(r" at other sizes.*", " at other sizes", reason))[:150]


if __name__ == "__main__":
    show(*map(Path, sys.argv[1:]))
