"""Verdicts: what a command makes of a model, beside ONNX Runtime.

right     (lint) an error for a model that ONNX Runtime refuses or never runs, none for one that runs at every size
equal     the model ran; the result loads, runs wherever the model ran, and gives equal outputs
fixed     the model did not run; the result does, and gives what the model of its name in `right/` gives, if there is one
rejected  the model did not run; exit status not 0, nothing written, an error that names something of the model
refused   the same for a conversion of a model that ran
short     anything else: a wrong result, a refusal without a reason or of plain `fix`, a crash
-         not judged: inputs of other kinds, a missing kernel, no static batch of 1 for `dynamic`
"""

import json
import tempfile
from pathlib import Path

import numpy as np
import onnx

from conformance import tools

from . import runtime
from .commands import COLUMNS, FIXES, SIZES, Command

# From good to bad: a verdict may not move to the right of what is recorded.
RANKS = {"-": 0, "right": 0, "equal": 0, "fixed": 0, "rejected": 1, "refused": 1, "short": 2}
NOT_JUDGED = ("-", "")
# The rule of errors about the command line, as a type that a model has no use for: they name nothing of the model.
BAD_REQUEST = "FIX001"


def judge(model: Path) -> dict[str, tuple[str, str]]:
    """The verdict of every command on a model, each with its reason."""
    before = runtime.run(model)
    if not before.judged:
        return dict.fromkeys(COLUMNS, NOT_JUDGED)
    right = model.parent / "right" / model.name
    expected = runtime.run(right) if right.exists() else before
    verdicts = {"lint": judge_lint(model, before)}
    for command in FIXES:
        verdicts[command.name] = judge_fix(model, before, expected, command)
    verdicts["dynamic"] = judge_dynamic(model) if before.outputs else NOT_JUDGED
    return verdicts


def judge_lint(model: Path, before: runtime.Runs) -> tuple[str, str]:
    """Whether onnx-lint finds an error exactly where the model does not run."""
    ran = tools.run([tools.binary("onnx-lint"), model, "--isolated", "--output-format", "json"])
    try:
        findings = json.loads(ran.stdout)
    except ValueError:
        return "short", ran.last_words()
    errors = [finding["code"] for finding in findings if finding["severity"] == "error"]
    if not before.outputs and not errors:
        return "short", f"no error for a model that does not run: {before.reason}"
    if len(before.outputs) == len(SIZES) and errors:
        return "short", f"{', '.join(errors)} for a model that runs"
    return "right", ""


def judge_fix(model: Path, before: runtime.Runs, expected: runtime.Runs, command: Command) -> tuple[str, str]:
    """Returns the verdict on a call of onnx-fix: its result must repeat the runs of the model."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.onnx"
        ran = call(model, out, command.arguments)
        if ran.status != 0:
            return refusal(model, out, ran, runs=bool(before.outputs), may_refuse=command.may_refuse)
        after = runtime.run(out if out.exists() else model)
    if not after.loads:
        return "short", f"ONNX Runtime refuses the result: {after.reason}"
    if not after.outputs:
        return "short", f"the result does not run: {after.reason}"
    for size, outputs in expected.outputs.items():
        if size not in after.outputs:
            return "short", f"at {size}, the result does not run: {after.reason}"
        if reason := runtime.difference(outputs, after.outputs[size], command.rtol, command.share):
            return "short", f"at {size}: {reason}"
    return ("equal" if before.outputs else "fixed"), ""


def judge_dynamic(model: Path) -> tuple[str, str]:
    """Whether the result of `--dynamic` on a static batch of 1 gives at 3 what three runs give."""
    inputs = runtime.session(model).get_inputs()
    is_static = all(port.shape and port.shape[0] == 1 and all(isinstance(axis, int) for axis in port.shape)
                    for port in inputs)
    if not inputs or not is_static:
        return NOT_JUDGED
    samples = {port.name: [runtime.draw(runtime.DTYPES[port.type], port.shape, 7 * run + index) for run in range(3)]
               for index, port in enumerate(inputs)}
    single = runtime.session(model)
    runs = [single.run(None, {name: drawn[run] for name, drawn in samples.items()}) for run in range(3)]
    arguments = [word for port in inputs for word in ("--dynamic", f"{port.name}:0=N")]
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.onnx"
        ran = call(model, out, arguments)
        if ran.status != 0:
            return refusal(model, out, ran, runs=True, may_refuse=True)
        try:
            got = runtime.session(out).run(None, {name: np.concatenate(drawn) for name, drawn in samples.items()})
        except Exception as error:  # noqa: BLE001
            return "short", f"the result does not run at 3: {runtime.line(error)}"
    if not all(output.shape[:1] == (1,) for output in runs[0]):
        return "short", "an output has no batch axis"
    expected = [np.concatenate(outputs) for outputs in zip(*runs)]
    reason = runtime.difference(expected, got, FIXES[0].rtol, FIXES[0].share)
    return ("short", f"at 3: {reason}") if reason else ("equal", "")


def call(model: Path, out: Path, arguments) -> tools.Run:
    """A run of onnx-fix without configuration."""
    return tools.run([tools.binary("onnx-fix"), model, "-o", out, "--isolated", *arguments])


def refusal(model: Path, out: Path, ran: tools.Run, *, runs: bool, may_refuse: bool) -> tuple[str, str]:
    """The verdict of a call that did not end with 0."""
    said = (ran.stdout.decode(errors="replace") + ran.stderr).strip()
    first = next(iter(said.splitlines()), "")[:120]
    if ran.crashed:
        return "short", f"crashed: {first}"
    if runs and not may_refuse:
        return "short", f"refuses a model that runs: {first}"
    if out.exists():
        return "short", "refuses the model, and writes one"
    if BAD_REQUEST not in said and ("error" not in said or not any(f"`{name}`" in said for name in names(model))):
        return "short", f"names nothing of the model: {first}"
    return ("refused" if runs else "rejected"), first


def names(model: Path) -> set[str]:
    """Names of nodes, values and operators, in subgraphs and functions too."""
    loaded = onnx.load(model, load_external_data=False)
    found = {name for function in loaded.functions for node in function.node for name in named(node)}
    graphs = [loaded.graph]
    while graphs:
        graph = graphs.pop()
        found.update(value.name for value in (*graph.input, *graph.output, *graph.initializer))
        for node in graph.node:
            found.update(named(node))
            for attribute in node.attribute:
                graphs += [*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs]
    return found - {""}


def named(node) -> list[str]:
    """The names that a node has or uses."""
    return [node.name, node.op_type, *node.input, *node.output]
