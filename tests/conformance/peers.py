"""Compares our optimizer with its peers: node counts, results, time and memory.

A result counts only if its outputs are equal, with optimizations of ONNX Runtime off and on, at all sizes of the model, and
if it has no operators of new domains. `Constant` nodes are counted.
"""

import collections
import math
import tempfile
from dataclasses import dataclass
from pathlib import Path

import onnx

from . import models, parallel, peer_tools, runner, tools

OURS = "ours"


@dataclass(frozen=True)
class Row:
    """Results for one model: operators of the original and of the equal results, faults of unequal results, costs."""

    name: str
    original: collections.Counter
    left: dict
    faults: dict
    costs: dict
    bytes: dict

    @property
    def best(self) -> str | None:
        """The peer whose result has the fewest nodes."""
        peers = [peer for peer in self.left if peer != OURS]
        return min(peers, key=lambda peer: self.left[peer].total(), default=None)

    @property
    def is_won(self) -> bool:
        if OURS not in self.left:
            return False
        return self.best is None or self.left[OURS].total() <= self.left[self.best].total()


def run(options) -> bool:
    fix = tools.binary("onnx-fix")
    peer_tools.python()
    chosen = models.chosen(options)
    arguments = options.fix_arguments
    with tempfile.TemporaryDirectory(dir=tools.WORK) as scratch:
        measured = [measure(fix, arguments, model, Path(scratch) / f"{at}.onnx") for at, model in enumerate(chosen)]
        judged = parallel.map_isolated(judge, list(zip(chosen, measured)), options.jobs)
    rows = [row for row in judged if row is not None]
    died = [model.name for model, row in zip(chosen, judged) if row is None]
    print(tools.table(("nodes left", "original", OURS, *peer_tools.COMMANDS, "file"), [_line(row) for row in rows]))
    _print_losses(rows, options)
    return _verdict(rows, died, options)


def measure(fix, arguments, model, made) -> dict:
    results = {OURS: peer_tools.ours(fix, arguments, model.path, made)}
    for peer in peer_tools.COMMANDS:
        results[peer] = peer_tools.optimize(peer, model.path)
    return results


def judge(item) -> Row:
    """Compares the results for a model. Verdicts on results of peers are cached beside the results."""
    model, results = item
    original = model.load()
    left, faults, costs = {}, {}, {}
    sizes = {"original": model.path.stat().st_size}
    for tool, result in results.items():
        costs[tool] = (result.cpu_seconds, result.peak_bytes)
        why = result.failure or fault(model, original, result.path, is_kept=tool != OURS)
        if why:
            faults[tool] = why
        else:
            left[tool] = operators(onnx.load(result.path))
            sizes[tool] = result.path.stat().st_size
    return Row(model.name, operators(original), left, faults, costs, sizes)


def fault(model, original: onnx.ModelProto, path: Path, *, is_kept: bool) -> str:
    """Returns the reason why a result does not count, or ""; if `is_kept`, caches the reason beside the result."""
    if not is_kept:
        return _fault(model, original, path)
    verdict = path.with_name("fault.txt")
    if not verdict.exists():
        verdict.write_text(_fault(model, original, path))
    return verdict.read_text()


def _fault(model, original: onnx.ModelProto, path: Path) -> str:
    result = onnx.load(path)
    foreign = {node.domain for node in runner.nodes(result)} - {node.domain for node in runner.nodes(original)} - {"", "ai.onnx"}
    if foreign:
        return f"operators of {', '.join(sorted(foreign))}"
    try:
        return runner.models_differ(str(model.path), str(path), model.feeds()) or ""
    except Exception as error:  # noqa: BLE001 – a model that ONNX Runtime rejects does not count
        return " ".join(str(error).split())[:200]


def operators(model: onnx.ModelProto) -> collections.Counter:
    """Counts the nodes of each operator."""
    return collections.Counter(node.op_type for node in runner.nodes(model))


def _line(row: Row):
    count = lambda tool: row.left[tool].total() if tool in row.left else "–"
    grown = f"{row.bytes[OURS] / row.bytes['original']:.2f}" if OURS in row.bytes else "–"
    mark = "" if row.is_won else " *"
    return (row.name + mark, row.original.total(), count(OURS), *map(count, peer_tools.COMMANDS), grown)


def _print_losses(rows, options):
    lost = sorted((row for row in rows if not row.is_won), key=lambda row: row.name)
    total, lines = collections.Counter(), []
    for row in lost:
        if OURS not in row.left:
            lines.append(f"{row.name}: {row.faults[OURS]}")
            continue
        over = row.left[OURS] - row.left[row.best]
        under = row.left[row.best] - row.left[OURS]
        total += over
        total.subtract(under)
        named = lambda counter: " ".join(f"{count} {name}" for name, count in counter.most_common())
        lines.append(f"{row.name}: {row.best} has fewer {named(over)}; more {named(under) or 'none'}")
    if lost:
        print(f"\nMore nodes than the best peer, in {len(lost)} models:\n{options.listed(lines, first=40)}")
        most = [f"{count} {name}" for name, count in total.most_common(20) if count > 0]
        print(f"in total: {', '.join(most)}")
    faults = [f"{row.name}: {tool}: {why}" for row in rows for tool, why in row.faults.items()]
    if faults:
        print(f"\nResults that do not count: {len(faults)}\n{options.listed(faults, first=40)}")


def _verdict(rows, died, options) -> bool:
    tool_names = (OURS, *peer_tools.COMMANDS)
    summary = []
    for tool in tool_names:
        counted = [row for row in rows if tool in row.left]
        summary.append((
            tool, f"{len(counted)} of {len(rows)}",
            f"{mean(row.left[tool].total() / max(1, row.original.total()) for row in counted):.3f}",
            f"{mean(row.bytes[tool] / row.bytes['original'] for row in counted):.3f}",
            f"{1000 * _median(row.costs[tool][0] for row in rows):.0f}",
            f"{_median(row.costs[tool][1] for row in rows) / 1e6:.0f}",
        ))
    print("\nGeometric means of nodes and file sizes, medians of costs:")
    print(tools.table(("tool", "equal", "nodes", "file", "CPU ms", "peak MB"), summary))
    wrong = [f"{row.name}: {row.faults[OURS]}" for row in rows if OURS in row.faults]
    won = sum(row.is_won for row in rows)
    print(f"\nAt most the nodes of the best peer: {won} of {len(rows)} models")
    if died:
        print(f"ONNX Runtime crashed on: {', '.join(died)}")
    if wrong:
        print(f"WRONG: {len(wrong)}\n{options.listed(wrong, first=40)}")
    grown = [row.name for row in rows if OURS in row.bytes and _is_grown(row)]
    if grown:
        print(f"larger files: {', '.join(grown)}")
    times = [_median(row.costs["onnxslim"][part] for row in rows) / _median(row.costs[OURS][part] for row in rows)
             for part in (0, 1)]
    return all([
        not wrong and not died,
        options.floors.share("models with at most the best peer's nodes", won, len(rows)),
        options.floors.factor("faster than OnnxSlim", times[0]),
        options.floors.factor("smaller in memory than OnnxSlim", times[1]),
    ])


def _is_grown(row: Row) -> bool:
    # Tolerate 2 % and 1 KiB, for names and metadata of new nodes.
    return row.bytes[OURS] > 1.02 * row.bytes["original"] + 1024


def mean(shares) -> float:
    """Returns the geometric mean."""
    shares = list(shares)
    return math.exp(sum(map(math.log, shares)) / len(shares)) if shares and all(shares) else math.nan


def _median(figures) -> float:
    ordered = sorted(figures)
    return ordered[len(ordered) // 2] if ordered else math.nan
