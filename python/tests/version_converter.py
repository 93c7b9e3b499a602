"""Runs onnx's tests of its version converter, once with that converter, and once with `onnx_lint.convert_version`.

Prints how many tests each of the two converters passes. The tests are from the source distribution of the installed
onnx.
"""

import hashlib
import importlib.metadata
import re
import subprocess
import sys
import tarfile
import tempfile
import urllib.parse
import urllib.request
import xml.etree.ElementTree as ElementTree
from pathlib import Path

INDEX = "https://pypi.org/simple/onnx/"
FILES = ("version_converter_test.py", "version_converter/automatic_upgrade_test.py",
         "version_converter/automatic_downgrade_test.py")

# The pytest plugin `replaced`: replaces the converter of onnx.
REPLACED = """
import onnx.version_converter, onnx_lint
onnx.version_converter.convert_version = onnx_lint.convert_version
onnx.version_converter.ConvertError = onnx_lint.OnnxLintError
"""

# Minimum number of passing tests. If more tests pass, raise this number; never lower it.
FLOOR = 370


def download(folder: Path) -> Path:
    """Downloads onnx's tests from the package index; returns their directory."""
    version = importlib.metadata.version("onnx")
    with urllib.request.urlopen(INDEX) as page:
        link = re.search(rf'href="([^"]*onnx-{re.escape(version)}\.tar\.gz)#sha256=(\w+)', page.read().decode())
    if link is None:
        sys.exit(f"onnx {version} has no source distribution at {INDEX}")
    archive = folder / "onnx.tar.gz"
    with urllib.request.urlopen(urllib.parse.urljoin(INDEX, link[1])) as content:
        archive.write_bytes(content.read())
    if hashlib.sha256(archive.read_bytes()).hexdigest() != link[2]:
        sys.exit(f"{link[1]} does not match the checksum of the index")
    with tarfile.open(archive) as members:
        members.extractall(folder, filter="data")
    return folder / f"onnx-{version}/tests/python"


def results(tests: Path, file: str, plugin: str) -> dict[str, str]:
    """Runs the tests of a file; maps each to its failure message, or to "" if it passes."""
    report = tests / "report.xml"
    report.unlink(missing_ok=True)
    options = ["--quiet", "-p", "no:cacheprovider", "-p", plugin, f"--junitxml={report}", "--rootdir", tests]
    subprocess.run([sys.executable, "-m", "pytest", *options, tests / file], cwd=tests, stdout=subprocess.DEVNULL)
    found = {}
    for case in ElementTree.parse(report).iter("testcase"):
        problem = next((case.find(kind) for kind in ("failure", "error") if case.find(kind) is not None), None)
        if case.find("skipped") is None:
            found[case.get("name")] = "" if problem is None else problem.get("message", "?")
    return found


def grouped(lost: list[tuple[str, str]]) -> dict[str, list[str]]:
    """Groups failed tests by cause: most of them expect the exact nodes or the exceptions of onnx's converter."""
    kinds = {
        "converted, where onnx raises an error": "DID NOT RAISE",
        "not convertible": "OnnxLintError: error[OPV006]",
        "other nodes, or no redundant node": "assert",
    }
    groups: dict[str, list[str]] = {}
    for name, why in lost:
        kind = next((kind for kind, sign in kinds.items() if sign in why), "other")
        groups.setdefault(kind, []).append(name)
    return groups


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        tests = download(Path(scratch))
        (tests / "replaced.py").write_text(REPLACED)
        print(f"{'onnx tests of the version converter':48} {'tests':>6} {'onnx':>6} {'onnx-lint':>10}")
        total, lost = [0, 0, 0], []
        for file in FILES:
            theirs, ours = (results(tests, file, plugin) for plugin in ("no:replaced", "replaced"))
            row = [len(theirs), *(sum(not why for why in found.values()) for found in (theirs, ours))]
            total = [one + other for one, other in zip(total, row)]
            lost += [(name, why) for name, why in ours.items() if why and not theirs.get(name)]
            print(f"{file:48} {row[0]:6} {row[1]:6} {row[2]:10}")
        print(f"{'all':48} {total[0]:6} {total[1]:6} {total[2]:10}")
    print("Tests that only onnx passes:")
    for cause, names in grouped(lost).items():
        print(f"{cause:48} {len(names):6}   {', '.join(names[:3])}{', …' if len(names) > 3 else ''}")
    if total[2] < FLOOR:
        sys.exit(f"{total[2]} pass, fewer than {FLOOR}")


main()
