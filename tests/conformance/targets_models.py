"""Runs real models in runtimes: as they are, after `onnx-fix`, and after `onnx-fix --target`."""

import json
import subprocess
from pathlib import Path

import numpy as np
import onnx

from . import models, runner, tools

FORMS = ("as it is", "onnx-fix", "onnx-fix --target")
FOLDER = tools.WORK / "target-models"


def outcomes(target: str, python: Path, script: Path, chosen) -> dict[tuple[str, str], str]:
    """Returns for each (model, variant) the first outcome that is not `equal`, or `equal` if all runs are equal."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    found, cases = {}, []
    for model in chosen:
        feeds = model.feeds()
        expected = [runner.in_runtime(str(model.path), given) for given in feeds]
        for form in FORMS:
            written, failure = _formed(model, form, target)
            if failure:
                found[model.name, form] = failure
                continue
            cases += [(model.name, form, _case(written, f"{model.name}.{FORMS.index(form)}.{seed}", given, wanted))
                      for seed, (given, wanted) in enumerate(zip(feeds, expected))]
    requests = "".join(json.dumps(case) + "\n" for _, _, case in cases)
    done = subprocess.run([python, script, target.partition("=")[0], FOLDER], input=requests, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    results = {line["case"]: line["outcome"] for line in map(json.loads, done.stdout.splitlines())}
    for name, form, case in cases:
        outcome = results[case["name"]]
        if found.get((name, form), "equal") == "equal":
            found[name, form] = outcome
    return found


def _formed(model: models.RealModel, form: str, target: str) -> tuple[Path, str | None]:
    """Writes a variant of the model; returns the path of the variant, and the error if onnx-fix fails."""
    if form == FORMS[0]:
        return model.path, None
    written = FOLDER / f"{model.name}.written.onnx"
    written.unlink(missing_ok=True)
    wanted = ["--target", target] if form == FORMS[2] else []
    done = tools.run([tools.binary("onnx-fix"), *wanted, model.path, "-o", written])
    if not written.exists():
        return written, f"not written: {done.last_words()}"
    return written, None


def _case(path: Path, name: str, feeds: dict, expected: list) -> dict:
    """Writes the files of a run and returns its request."""
    content = onnx.load(path)
    onnx.save(content, FOLDER / f"{name}.onnx")
    outputs = [value.name for value in content.graph.output]
    arrays = {f"in:{key}": value for key, value in feeds.items()}
    np.savez(FOLDER / f"{name}.npz", **arrays, **{f"out:{key}": value for key, value in zip(outputs, expected)})
    # float16 values are rounded at every node, and runtimes differ in where they round.
    half = any(value.dtype == np.float16 for value in expected)
    return {"name": name, "outputs": outputs, "rtol": 1e-2 if half else 1e-3, "atol": 1e-2 if half else 1e-5}
