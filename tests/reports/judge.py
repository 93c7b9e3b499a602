"""Judges the result of a command on a model, with ONNX Runtime.

right     (lint) an error if ONNX Runtime rejects the model or it never runs, and none if it runs at every size
equal     the model ran; the result loads, runs at the same sizes, and has equal outputs
fixed     the model did not run; the result runs, and has the outputs of the model in `right/`, if there is one
rejected  the model did not run; the command failed, wrote no file, and its error names a part of the model or concerns
          the command line
refused   like rejected, for a conversion of a model that ran
short     any other outcome: a wrong result, a refusal without a reason or of plain `fix`, a crash
-         not judged: inputs that are not tensors, a missing kernel, no static batch of 1 or no run for
          `dynamic`
"""

import json
import tempfile
from pathlib import Path

import numpy as np
import onnx

from conformance import tools

from . import runtime
from .commands import COLUMNS, FIXES, SIZES, Command

# Rank of each verdict; a verdict may not have a higher rank than the recorded one.
RANKS = {"-": 0, "right": 0, "equal": 0, "fixed": 0, "rejected": 1, "refused": 1, "short": 2}
NOT_JUDGED = ("-", "")
# The rule of errors about the command line, such as a type that a model does not use. Errors of this rule need not name
# a part of the model.
BAD_REQUEST = "FIX001"


def judge(model: Path) -> dict[str, tuple[str, str]]:
    """Returns the verdict of every command on a model, with its reason."""
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
    """Judges onnx-lint: it must report an error if the model never runs, and none if it runs at every size."""
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
    """Judges a call of onnx-fix: its result must have the expected outputs."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.onnx"
        ran = call(model, out, command.arguments)
        if ran.status != 0:
            return refusal(model, out, ran, runs=bool(before.outputs), may_refuse=command.may_refuse)
        after = runtime.run(out if out.exists() else model)
    if not after.loads:
        return "short", f"ONNX Runtime rejects the result: {after.reason}"
    if not after.outputs:
        return "short", f"the result does not run: {after.reason}"
    for size, outputs in expected.outputs.items():
        if size not in after.outputs:
            return "short", f"at {size}, the result does not run: {after.reason}"
        if reason := runtime.difference(outputs, after.outputs[size], command.rtol, command.share):
            return "short", f"at {size}: {reason}"
    return ("equal" if before.outputs else "fixed"), ""


def judge_dynamic(model: Path) -> tuple[str, str]:
    """Judges `--dynamic` on a static batch of 1: outputs at batch 3 must equal three runs of the model."""
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
    """Runs onnx-fix without configuration files."""
    return tools.run([tools.binary("onnx-fix"), model, "-o", out, "--isolated", *arguments])


def refusal(model: Path, out: Path, ran: tools.Run, *, runs: bool, may_refuse: bool) -> tuple[str, str]:
    """Returns the verdict on a call with a nonzero exit status."""
    output = (ran.stdout.decode(errors="replace") + ran.stderr).strip()
    first = next(iter(output.splitlines()), "")[:120]
    if ran.crashed:
        return "short", f"crashed: {first}"
    if runs and not may_refuse:
        return "short", f"refuses a model that runs: {first}"
    if out.exists():
        return "short", "refuses the model, but writes a file"
    if BAD_REQUEST not in output and ("error" not in output or not any(f"`{name}`" in output for name in names(model))):
        return "short", f"names no part of the model: {first}"
    return ("refused" if runs else "rejected"), first


def names(model: Path) -> set[str]:
    """Returns the names of nodes, values and operators, also in subgraphs of the main graph and in functions."""
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
    """Returns the names in a node: of itself, its operator and its values."""
    return [node.name, node.op_type, *node.input, *node.output]
