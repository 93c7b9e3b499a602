"""Tests onnx-lint on invalid models: mutants of ONNX's node tests, one fault each, compared with ONNX Runtime."""

import collections
import csv
import functools
import json
import random
import re
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from . import invalid_models, invalid_mutations, invalid_runs, tools

ACCEPTED = Path(__file__).with_suffix(".tsv")
# Folder for one example of each group of mutants that onnx-lint misses or reports wrongly.
EXAMPLES = tools.WORK / "invalid"

SAMPLE, WHOLE = 4_000, 100_000
# Number of base models for each operator, version and kind of inputs: in the sample, and in the full run.
SAMPLE_BASES, WHOLE_BASES = 1, 8
# Models per process of onnx-lint.
BATCH = 500
# onnx-fix runs on one in this many mutants.
FIX_EVERY = 10

# Errors of these rules are about the export (training mode, a hard-coded size), not about validity.
NOT_ABOUT_VALIDITY = "EXP"

RIGHT, MISSED, UNTRUE, ACCEPTED_MISS, ACCEPTED_UNTRUE, NOT_JUDGED = (
    "right", "missed", "untrue", "accepted miss", "accepted untrue", "not judged")


@dataclass
class Mutant:
    """A mutated model, and the verdicts on it."""

    base: invalid_models.Base
    operator: str
    part: str
    change: str
    model: bytes
    runtime: invalid_runs.Outcome | None = None
    # Errors of onnx-lint, as "CODE message". None: onnx-lint crashed.
    errors: list[str] | None = None
    verdict: str = ""

    @property
    def group(self) -> tuple[str, str, str]:
        said = self.runtime.message if self.verdict == MISSED else self.errors[0]
        return self.operator, self.part, pattern(said)

    def __str__(self):
        errors = f"; onnx-lint: {self.errors[0]}" if self.errors else ""
        return (f"{self.base.name} opset {self.base.model.opset_import[0].version}, {self.part}: {self.change}: "
                f"ONNX Runtime {self.runtime.verdict} {self.runtime.message[:200]}{errors}")


def run(options) -> bool:
    lint, fix = tools.binary("onnx-lint"), tools.binary("onnx-fix")
    mutants = judged(lint, options)
    accepted = _accept(mutants)
    counts = collections.Counter(mutant.verdict for mutant in mutants)
    print(_table(mutants))
    shutil.rmtree(EXAMPLES, ignore_errors=True)
    EXAMPLES.mkdir()
    for verdict in (MISSED, UNTRUE):
        groups = grouped(mutants, verdict)
        if groups:
            print(f"{verdict.upper()}: {counts[verdict]} in {len(groups)} groups (models: {EXAMPLES})")
            print(options.listed(_described(verdict, groups), first=25))
    crashes = [str(mutant) for mutant in mutants if mutant.runtime.verdict in (invalid_runs.CRASHES, invalid_runs.HANGS)]
    if crashes:
        print(f"ONNX Runtime crashes or hangs: {len(crashes)}\n{options.listed(crashes)}")
    broken = [str(mutant) for mutant in mutants if mutant.errors is None]
    if broken:
        print(f"FAILED: onnx-lint: {len(broken)}\n{options.listed(broken)}")
    unmatched = [row for row, count in accepted if not count] if not options.sample else []
    if unmatched:
        lines = ["  ".join(row.values()) for row in unmatched]
        print(f"UNUSED lines of {ACCEPTED.name}: {len(lines)}\n{options.listed(lines)}")
    refused, ran = ([mutant for mutant in mutants if mutant.verdict in verdicts and refuses(mutant) == wanted]
                    for wanted, verdicts in ((True, (RIGHT, MISSED)), (False, (RIGHT, UNTRUE))))
    floors = options.floors
    held = [floors.share("reported", sum(mutant.verdict == RIGHT for mutant in refused), len(refused)),
            floors.share("no error on models that run", sum(mutant.verdict == RIGHT for mutant in ran), len(ran)),
            _fixed(fix, mutants, options)]
    return all(held) and not broken and not unmatched


def judged(lint, options) -> list[Mutant]:
    """Returns the chosen mutants with the verdicts of ONNX Runtime and onnx-lint."""
    number, limit = (SAMPLE, SAMPLE_BASES) if options.sample else (WHOLE, WHOLE_BASES)
    mutants = _chosen(_valid_bases(lint, limit, options.jobs), number, options.seed)
    for mutant, outcome in zip(mutants, invalid_runs.outcomes([(m.model, m.base.feeds) for m in mutants], options.jobs)):
        mutant.runtime = outcome
    _lint_all(lint, mutants)
    for mutant in mutants:
        mutant.verdict = _verdict(mutant)
    return mutants


def refuses(mutant) -> bool:
    return mutant.runtime.verdict in (invalid_runs.REFUSES, invalid_runs.CRASHES)


def _verdict(mutant) -> str:
    if mutant.errors is None or mutant.runtime.verdict in (invalid_runs.HANGS, invalid_runs.NOT_JUDGED):
        return NOT_JUDGED
    if refuses(mutant) == bool(mutant.errors):
        return RIGHT
    return UNTRUE if mutant.errors else MISSED


def _valid_bases(lint, limit, jobs) -> list[invalid_models.Base]:
    """Returns the base models that ONNX Runtime runs, without relabeled models that onnx-lint reports."""
    bases = invalid_models.bases(limit)
    unchanged = [Mutant(base, "", "none", "none", base.model.SerializeToString()) for base in bases]
    _lint_all(lint, unchanged)
    outcomes = invalid_runs.outcomes([(mutant.model, mutant.base.feeds) for mutant in unchanged], jobs)
    return [mutant.base for mutant, outcome in zip(unchanged, outcomes)
            if outcome.verdict == invalid_runs.RUNS and not (mutant.base.is_relabeled and mutant.errors)]


def _chosen(bases, number, seed) -> list[Mutant]:
    """Returns distinct mutants, chosen at random, evenly from all groups of base models."""
    choice = random.Random(seed)
    groups = collections.defaultdict(list)
    for base in bases:
        schema_of = functools.partial(invalid_models.schema_of, model=base.model)
        groups[base.group] += [(base, mutation) for mutation in invalid_mutations.mutations(base.model, schema_of)]
    for entries in groups.values():
        choice.shuffle(entries)
    found, seen = [], set()
    while groups and len(found) < number:
        for group in sorted(groups):
            if not groups[group]:
                del groups[group]
                continue
            base, mutation = groups[group].pop()
            model = invalid_mutations.apply(base.model, mutation)
            if model and model not in seen:
                seen.add(model)
                found.append(Mutant(base, *mutation[:3], model))
    return found[:number]


def _lint_all(lint, mutants):
    for start in range(0, len(mutants), BATCH):
        _lint(lint, mutants[start:start + BATCH])


def _lint(lint, mutants):
    """Lints mutants and sets their `errors`. If onnx-lint fails, lints both halves, to find the failing mutant."""
    with tempfile.TemporaryDirectory(dir=tools.WORK) as folder:
        for place, mutant in enumerate(mutants):
            (Path(folder) / f"{place}.onnx").write_bytes(mutant.model)
        done = tools.run([lint, "--isolated", "--output-format", "json", folder])
    if done.status in (0, 1, 2) and done.stdout.strip():
        for mutant in mutants:
            mutant.errors = []
        for finding in json.loads(done.stdout):
            if finding["severity"] == "error" and not finding["code"].startswith(NOT_ABOUT_VALIDITY):
                mutants[int(Path(finding["file"]).stem)].errors.append(f"{finding['code']} {finding['message']}")
    elif len(mutants) > 1:
        middle = len(mutants) // 2
        _lint(lint, mutants[:middle])
        _lint(lint, mutants[middle:])


def _fixed(fix, mutants, options) -> bool:
    """Runs onnx-fix on a sample of the mutants, and tests whether its results run."""
    with tempfile.TemporaryDirectory(dir=tools.WORK) as folder:
        source, written = Path(folder) / "in.onnx", Path(folder) / "out.onnx"
        cases, failed = [], []
        for mutant in mutants[::FIX_EVERY]:
            if mutant.runtime.verdict in (invalid_runs.HANGS, invalid_runs.NOT_JUDGED):
                continue
            source.write_bytes(mutant.model)
            written.unlink(missing_ok=True)
            done = tools.run([fix, "--isolated", source, "-o", written])
            if done.crashed:
                failed.append(f"{mutant}: {done.last_words()}")
            elif done.status == 0:
                cases.append((mutant, written.read_bytes()))
        outcomes = invalid_runs.outcomes([(model, mutant.base.feeds) for mutant, model in cases], options.jobs)
    bad = [(mutant, outcome) for (mutant, _), outcome in zip(cases, outcomes)
           if outcome.verdict in (invalid_runs.REFUSES, invalid_runs.CRASHES)]
    kept = [f"{mutant}; fixed: {outcome.message[:200]}" for mutant, outcome in bad if refuses(mutant)]
    lost = [f"{mutant}; fixed: {outcome.message[:200]}" for mutant, outcome in bad if not refuses(mutant)]
    for title, lines in (("onnx-fix exits with 0, but its output does not run", kept), ("FAILED: onnx-fix", failed),
                         ("LOST: the mutant runs, but not the output of onnx-fix", lost)):
        if lines:
            print(f"{title}: {len(lines)}\n{options.listed(sorted(lines))}")
    return options.floors.share("fixed models run", len(cases) - len(bad), len(cases)) and not failed and not lost


def _accept(mutants) -> list[tuple[dict, int]]:
    """Marks the mutants that a line of the table accepts; returns the lines with their number of mutants."""
    with ACCEPTED.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    found = []
    for row in rows:
        matches = [mutant for mutant in mutants if mutant.verdict == row["verdict"] and _matches(row, mutant)]
        for mutant in matches:
            mutant.verdict = ACCEPTED_MISS if row["verdict"] == MISSED else ACCEPTED_UNTRUE
        found.append((row, len(matches)))
    return found


def _matches(row, mutant) -> bool:
    said = mutant.runtime.message if row["verdict"] == MISSED else mutant.errors[0]
    return all((re.fullmatch(row["operator"], mutant.operator), re.fullmatch(row["part"], f"{mutant.part}: {mutant.change}"),
                re.search(row["message"], said)))


def grouped(mutants, verdict) -> list[tuple[tuple[str, str, str], list[Mutant]]]:
    """Groups the mutants with this verdict by operator, mutated part and message; the largest group is first."""
    groups = collections.defaultdict(list)
    for mutant in mutants:
        if mutant.verdict == verdict:
            groups[mutant.group].append(mutant)
    return sorted(groups.items(), key=lambda entry: (-len(entry[1]), entry[0]))


# Location in the source of ONNX Runtime: `file.cc:12 type namespace::function(parameters) const [with T = type] `.
_SIGNATURE = re.compile(r"(?:(?<=\.cc)|(?<=\.h)):\d+ [\w:<>,&*\s{}~]*::[\w<>~]+(\(\))?\(([^()]|\([^()]*\))*\)( const)?"
                        r"( \[with .*?\](?= [^\]]))?")
# Parts of error messages that state neither the reason nor the source location.
_DECORATION = re.compile(r"Load model from .*? failed:\s*|/\S+/(\w+\.\w+:\d+ )|Node ?\(\w*\) |Status Message: |Node:\w* ")


def pattern(message: str) -> str:
    """Returns a message without the names, numbers and paths that differ from model to model."""
    message = re.sub(r"^\[ONNXRuntimeError\] : \d+ : ", "", message)
    message = re.sub(_DECORATION, r"\1", message)
    message = re.sub(_SIGNATURE, "", message)
    message = re.sub(r"(Non-zero status code returned while running) \S+ node. Name:'\w*' ", "", message)
    message = re.sub(r"'[^']*'|\"[^\"]*\"|`[^`]*`", "…", message)
    message = re.sub(r"\{[-\d, ]*\}|\[[-\d, ]*\]", "[…]", message)
    return re.sub(r"(?<![\w.])-?\d+(\.\d+)?(e[+-]?\d+)?", "N", message)[:160]


def _described(verdict, groups) -> list[str]:
    """Returns a line for each group, and writes its first mutant as a file."""
    lines = []
    for place, ((operator, part, said), members) in enumerate(groups, 1):
        path = EXAMPLES / f"{verdict}-{place:04}-{operator}.onnx"
        path.write_bytes(members[0].model)
        lines.append(f"{len(members)} × {operator}, {part}: {said}\n      {path.name}: {members[0]}")
    return lines


def _table(mutants) -> str:
    columns = (RIGHT, MISSED, UNTRUE, ACCEPTED_MISS, ACCEPTED_UNTRUE, NOT_JUDGED)
    operators = collections.defaultdict(collections.Counter)
    for mutant in mutants:
        operators[mutant.base.group[0]][mutant.verdict] += 1
        operators["all"][mutant.verdict] += 1
    order = sorted(operators, key=lambda name: (name != "all", -operators[name][MISSED] - operators[name][UNTRUE], name))
    return tools.table(("operator", "mutants", *columns),
                       [(name, operators[name].total(), *(operators[name][column] for column in columns)) for name in order])
