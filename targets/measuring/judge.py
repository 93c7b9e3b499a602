"""Compares the answers of a profile with the outcomes of cases in the runtime."""

import collections
import json
import tempfile
from pathlib import Path

from conformance import tools

from . import cases

YES, NO, UNKNOWN = "yes", "no", "unknown"


def answers(lint, target: str, chosen, folder: Path | None = None) -> dict[str, str]:
    """Returns the answer of the profile for each case, by name."""
    found = {}
    arguments = ["--targets", folder] if folder else []
    with tempfile.TemporaryDirectory(dir=tools.WORK) as scratch:
        linked = Path(scratch)
        for case in chosen:
            (linked / case.path.name).hardlink_to(case.path)
        done = tools.run([lint, *arguments, "--target", target, "--isolated", "--select", "OPS005", "--severity", "info",
                          "--exit-zero", "--output-format", "json", linked], timeout=600)
    if done.status != 0:
        raise RuntimeError(done.last_words())
    said = collections.defaultdict(list)
    for finding in json.loads(done.stdout):
        said[Path(finding["file"]).stem].append(finding)
    for case in chosen:
        levels = {finding["severity"] for finding in said[case.name]}
        is_open = any("it is unknown" in finding["message"] for finding in said[case.name])
        found[case.name] = NO if levels & {"error", "warning"} else UNKNOWN if is_open else YES
    return found


def table(rows) -> str:
    """Formats a table. A row is a label, with a pair for each case: the answer, and whether the case passed."""
    header = ("", "cases", "yes", "refused there", "no", "runs there", "unknown")
    return tools.table(header, [_row(label, pairs) for label, pairs in rows])


def _row(label, pairs):
    count = collections.Counter(pairs)
    total = max(len(pairs), 1)
    yes, no = (sum(count[answer, ran] for ran in (True, False)) for answer in (YES, NO))
    unknown = sum(count[UNKNOWN, ran] for ran in (True, False))
    return (label, len(pairs), yes, f"{count[YES, False] / max(yes, 1):.1%}", no, f"{count[NO, True] / max(no, 1):.1%}",
            f"{unknown / total:.1%}")


def newest(all_cases, limit: int) -> list[cases.Case]:
    """Returns the newest case up to opset `limit` among cases that differ only in the opset."""
    best = {}
    for case in all_cases:
        if case.opset <= limit and (case.key not in best or best[case.key].opset < case.opset):
            best[case.key] = case
    return sorted(best.values(), key=lambda case: case.name)
