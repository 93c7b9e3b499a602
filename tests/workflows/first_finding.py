"""Runs the ways to get the tools, from nothing to the first finding, and compares their CPU times.

first_finding.py DIST    DIST has the artifacts of a release

The wheel is installed from DIST, without a network. The pre-commit hook and the GitHub action run as pre-commit and
GitHub run them.
"""

import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Callable

import yaml

ROOT = Path(__file__).resolve().parents[2]
DIST = Path(sys.argv[1]).resolve()
MODEL = ROOT / "tests/pitfalls/exported/BakedBatch.ts17.onnx"
VERSION = re.search(r'^version = "(.+)"$', (ROOT / "Cargo.toml").read_text(), re.M)[1]


def run(command: list, folder: Path, expected: int = 0, **environment: str) -> str:
    """Runs a command in a minimal environment, and returns its output."""
    whole = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1",
             "PIP_DISABLE_PIP_VERSION_CHECK": "1", **environment}
    passed = {name: os.environ[name] for name in ("PIP_INDEX_URL", "PIP_CONFIG_FILE", "SSL_CERT_FILE", "HTTPS_PROXY")
              if name in os.environ}
    ran = subprocess.run([str(word) for word in command], cwd=folder, env={**passed, **whole},
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert ran.returncode == expected, f"{command}: exit status {ran.returncode}\n{ran.stdout}"
    return ran.stdout


def git(folder: Path, *words: str) -> None:
    identity = ["-c", "user.name=test", "-c", "user.email=test@example.org", "-c", "init.defaultBranch=main"]
    run(["git", *identity, "-c", "core.hooksPath=/dev/null", *words], folder)


def empty_environment(work: Path) -> str:
    return run([sys.executable, "-m", "venv", "venv"], work)


def wheel(work: Path) -> str:
    """Installs the wheel into a new virtual environment."""
    empty_environment(work)
    run(["venv/bin/python", "-m", "pip", "install", "--quiet", "--no-index", "--find-links", DIST, f"onnx-lint=={VERSION}"],
        work)
    return run(["venv/bin/onnx-lint", MODEL], work, expected=1)


def pre_commit(work: Path) -> str:
    """Runs the hook of this repository in another one, with empty caches."""
    hook, user = work / "hook", work / "user"
    for folder in (hook, user):
        folder.mkdir()
        git(folder, "init")
    for name in (".pre-commit-hooks.yaml", "pyproject.toml"):
        shutil.copy(ROOT / name, hook)
    git(hook, "add", ".")
    git(hook, "commit", "-m", "hook")
    git(hook, "tag", f"v{VERSION}")
    shutil.copy(MODEL, user / "net.onnx")
    config = {"repos": [{"repo": str(hook), "rev": f"v{VERSION}", "hooks": [{"id": "onnx-lint"}]}]}
    (user / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
    git(user, "add", ".")
    return run([sys.executable, "-m", "pre_commit", "run", "--all-files"], user, expected=1,
               PRE_COMMIT_HOME=str(work / "cache"), PIP_FIND_LINKS=str(DIST))


class Runner:
    """Runs the steps of the composite action as GitHub does; there is no cache."""

    def __init__(self, work: Path):
        self.work, self.action = work, yaml.safe_load((ROOT / "action.yml").read_text())
        (work / "releases").mkdir()
        (work / f"releases/v{VERSION}").symlink_to(DIST)

    def step(self, step: dict, inputs: dict, expected: int) -> str:
        """Runs the shell script of a step."""
        values = {**{f"inputs.{name}": value for name, value in inputs.items()},
                  "github.action_repository": "owner/onnx-lint"}
        environment = {name: re.sub(r"\$\{\{ (.*?) \}\}", lambda match: values[match[1]], value)
                       for name, value in step["env"].items()}
        assert "${{" not in step["run"], "an expression in a script can be injected; pass it by `env`"
        script = self.work / "step.sh"
        script.write_text(step["run"])
        return run(["bash", "--noprofile", "--norc", "-eo", "pipefail", script], self.work, expected, **environment,
                   RUNNER_TEMP=str(self.work / "temp"), GITHUB_ACTION_PATH=str(ROOT),
                   GITHUB_SERVER_URL="https://example.org", ONNX_LINT_RELEASES=f"file://{self.work}/releases")

    def run(self, expected: int = 1, **inputs: str) -> str:
        """Runs the steps up to Lint, which must exit with `expected`; with 2, the first script must exit with 1."""
        defaults = {name: str(about["default"]) for name, about in self.action["inputs"].items()}
        assert set(inputs) <= set(defaults), inputs
        shown = ""
        for step in self.action["runs"]["steps"]:
            if "run" in step:
                is_last = step["name"] == "Lint" or expected > 1
                shown += self.step(step, {**defaults, **inputs}, min(expected, 1) if is_last else 0)
                if is_last:
                    break
        return shown


def action(work: Path) -> str:
    """Runs the steps of the action: annotations and SARIF, for a model with a finding."""
    shutil.copy(MODEL, work / "net.onnx")
    shown = Runner(work).run(paths="net.onnx", sarif="out.sarif")
    assert "::error " in shown, shown
    assert '"ruleId": "EXP001"' in (work / "out.sarif").read_text()
    return shown


def other_runs_of_the_action(work: Path) -> None:
    """Runs the action on a valid model, with a wrong checksum, and with an unknown version."""
    runner = Runner(work)
    sound = work / "net.onnxtxt"
    sound.write_text('<ir_version: 8, opset_import: ["" : 17]>\nmain (float[N] x) => (float[N] y) { y = Relu (x) }\n')
    runner.run(expected=0, paths="net.onnxtxt", sarif="out.sarif")
    shutil.rmtree(work / "temp")
    shown = runner.run(expected=2, paths="net.onnxtxt", sha256="0" * 64)
    assert "nothing was installed" in shown and not (work / "temp").exists(), shown
    assert "cannot be downloaded" in runner.run(expected=2, version="9.9.9")


def children() -> float:
    """Returns the CPU time of all finished commands, in seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def cost(way: Callable[[Path], str]) -> tuple[str, float]:
    """Returns the output of a way, and the CPU time of its commands in seconds."""
    with tempfile.TemporaryDirectory() as work:
        busy = children()
        return way(Path(work)), children() - busy


# Times depend on the machine and its load, so each limit is a multiple of the CPU time for an empty virtual environment.
_, unit = cost(empty_environment)
for way, limit in ((wheel, 2), (pre_commit, 3), (action, 2)):
    shown, busy = cost(way)
    assert "EXP001" in shown, shown
    print(f"{way.__name__}: first finding after {busy:.1f} s of CPU; an empty virtual environment takes {unit:.1f} s")
    assert busy <= limit * unit, f"{way.__name__}: more than {limit} times the CPU time for an empty virtual environment"
with tempfile.TemporaryDirectory() as work:
    other_runs_of_the_action(Path(work))
