"""Converts every node test to each opset of TARGETS: results must be valid and match the stored outputs."""

import collections
import csv
import functools
import tempfile
from dataclasses import dataclass
from pathlib import Path

from . import node_tests, opset, parallel, runner, tools

TARGETS = (7, 9, 11, 13, 15, 17, 18, 20, 21, 23, 26, 28)
SAMPLE_EVERY = 11

RIGHT, REFUSED, WRONG, ILLEGAL, UNRUNNABLE, FAILED = "right", "refused", "WRONG", "ILLEGAL", "cannot run", "FAILED"


@dataclass(frozen=True)
class Outcome:
    """Result of converting one test to one opset. `known` is the entry of the test in node-conversion.tsv."""

    test: str
    operator: str
    source: int | None
    target: int
    known: str
    kind: str
    detail: str = ""

    @property
    def reachable(self) -> bool:
        return self.known in ("relabel", "rewrite", "decompose")

    @property
    def upward(self) -> bool:
        return self.source is not None and self.source <= self.target

    def __str__(self):
        return f"{self.test} {self.source}→{self.target}: {self.detail}"


def run(options) -> bool:
    fix = tools.binary("onnx-fix")
    tests = node_tests.sample(SAMPLE_EVERY) if options.sample else node_tests.collect()
    known = _known()
    work = functools.partial(_convert_everywhere, fix, known)
    done = parallel.map_isolated(work, tests, options.jobs)
    outcomes = []
    for test, found in zip(tests, done):
        outcomes += found or [outcome_of(test, known, target, FAILED, "the test process crashed") for target in TARGETS]
    print(f"{len(tests)} node tests of {len(node_tests.collect())}, {len(outcomes)} conversions")
    return _report(outcomes, options)


def _known() -> dict[tuple[str, int], str]:
    """Returns for each test and opset whether conversion should be possible, from the operator history."""
    with (Path(__file__).parent / "node-conversion.tsv").open(encoding="utf-8") as file:
        return {(row["test"], int(target)): verdict for row in csv.DictReader(file, delimiter="\t")
                for target, verdict in row.items() if target != "test"}


def outcome_of(test, known, target, kind, detail="") -> Outcome:
    source = opset.opset_of(test.model)
    return Outcome(test.name, test.operator, source, target, known.get((test.name, target), "n/a"), kind, detail)


def _convert_everywhere(fix, known, test) -> list[Outcome]:
    """Converts one test to all opsets.

    If onnx.checker rejects the test itself, results are not checked with it.
    """
    judge = runner.Judge(test)
    checked = opset.illegality(test.model, opset.opset_of(test.model)) is None
    with tempfile.TemporaryDirectory(dir=tools.WORK) as scratch:
        return [outcome_of(test, known, target, *verdict(fix, test.path, [judge], checked, target, Path(scratch) / "out.onnx"))
                for target in TARGETS]


def verdict(fix, source, judges, checked, target, written) -> tuple[str, str]:
    """Returns the kind of the result for one model and opset, and the reason.

    Each of `judges` checks the outputs.
    """
    conversion = opset.convert(fix, source, target, written)
    if conversion.failure:
        return FAILED, conversion.failure
    if conversion.model is None:
        return REFUSED, "; ".join(conversion.blockers)
    if checked and (reason := opset.illegality(conversion.model, target)):
        return ILLEGAL, reason
    try:
        reason = next(filter(None, (judge.mismatch(conversion.model) for judge in judges)), None)
    except runner.CannotRun as error:
        return UNRUNNABLE, str(error)
    return (WRONG, reason) if reason else (RIGHT, "")


def _report(outcomes, options) -> bool:
    print(tools.table(("opset", "reachable", "right", "share", "upward", "right", "beyond estimate", "refused",
                       "cannot run", "WRONG", "ILLEGAL", "FAILED"), [_row(outcomes, target) for target in TARGETS]))
    passed = print_faults(outcomes, options)
    print_refusals([outcome for outcome in outcomes if outcome.reachable], options)
    for target in TARGETS:
        here = [outcome for outcome in outcomes if outcome.target == target and outcome.reachable]
        passed &= options.floors.share(f"right at {target}", sum(outcome.kind == RIGHT for outcome in here), len(here))
    upward = [outcome for outcome in outcomes if outcome.upward and outcome.reachable]
    if missed := [str(outcome) for outcome in upward if outcome.kind == REFUSED]:
        print(f"refused upgrades: {len(missed)}\n{options.listed(missed)}")
    return passed & options.floors.share("not refused upwards", len(upward) - len(missed), len(upward))


def _row(outcomes, target):
    here = [outcome for outcome in outcomes if outcome.target == target]
    reachable = [outcome for outcome in here if outcome.reachable]
    upward = [outcome for outcome in here if outcome.upward]
    count = collections.Counter(outcome.kind for outcome in here)
    right = sum(outcome.kind == RIGHT for outcome in reachable)
    return (target, len(reachable), right, f"{right / max(len(reachable), 1):.1%}", len(upward),
            sum(outcome.kind == RIGHT for outcome in upward),
            sum(outcome.kind == RIGHT and outcome.known.startswith("error") for outcome in here),
            sum(outcome.kind == REFUSED for outcome in reachable),
            count[UNRUNNABLE], count[WRONG], count[ILLEGAL], count[FAILED])


def print_faults(outcomes, options) -> bool:
    """Prints wrong and undecided results. Returns True if no conversion is wrong, invalid or failed."""
    for kind in (WRONG, ILLEGAL, FAILED, UNRUNNABLE):
        if found := [str(outcome) for outcome in outcomes if outcome.kind == kind]:
            print(f"{kind}: {len(found)}\n{options.listed(found)}")
    return not any(outcome.kind in (WRONG, ILLEGAL, FAILED) for outcome in outcomes)


def print_refusals(outcomes, options):
    """Prints refusals of convertible tests, by operator, with the most frequent reason."""
    by_operator = collections.defaultdict(list)
    for outcome in outcomes:
        if outcome.kind == REFUSED:
            by_operator[outcome.operator].append(outcome)
    lines = []
    for operator, found in sorted(by_operator.items(), key=lambda item: (-len(item[1]), item[0])):
        targets = sorted({outcome.target for outcome in found})
        reason, _ = collections.Counter(outcome.detail for outcome in found).most_common(1)[0]
        lines.append(f"{len(found):4} {operator} to {', '.join(map(str, targets))}: {reason}")
    if lines:
        print(f"refused though convertible, by operator (“…” marks tests of decompositions):\n{options.listed(lines, first=25)}")
