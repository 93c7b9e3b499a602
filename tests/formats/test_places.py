"""Tests locations of findings: files and lines exist, and columns cover a Python construct."""

import ast
import json


class Source:
    """The constructs of a Python file, by start and end position."""

    def __init__(self, lines: list[str]):
        self.lines = lines
        nodes = [node for node in ast.walk(ast.parse("\n".join(lines))) if hasattr(node, "lineno")]
        self.spans = {(node.lineno, node.col_offset): set() for node in nodes}
        for node in nodes:
            self.spans[node.lineno, node.col_offset].add((node.end_lineno, node.end_col_offset))
            if isinstance(node, (ast.For, ast.While, ast.If, ast.With, ast.FunctionDef, ast.ClassDef)):
                # For a compound statement, findings may cover only its header.
                head = lines[node.lineno - 1].split(" #")[0]
                self.spans[node.lineno, node.col_offset].add((node.lineno, head.rfind(":") + 1))

    def covers(self, line: int, start: int, end: int) -> bool:
        """Returns True if the byte columns `start` to `end` cover a construct, or the first line of a construct."""
        text = self.lines[line - 1].encode()
        ends = self.spans.get((line, start), set())
        return (line, end) in ends or (any(last > line for last, _ in ends) and end == len(text.rstrip()))


def check_fix(lines: list[str], result: dict, diagnostic: dict) -> bool:
    """Returns True if a result has a fix.

    The fix must change the syntax tree, result in valid Python, and match the suggestion in rdjson output.
    """
    if "fixes" not in result:
        assert "suggestions" not in diagnostic
        return False
    [change] = result["fixes"][0]["artifactChanges"]
    assert change["artifactLocation"] == result["locations"][0]["physicalLocation"]["artifactLocation"]
    [replacement] = change["replacements"]
    region, text = replacement["deletedRegion"], replacement["insertedContent"]["text"]
    first, last = lines[region["startLine"] - 1], lines[region["endLine"] - 1]
    before, after = first[:region["startColumn"] - 1], last[region["endColumn"] - 1:]
    changed = [*lines[:region["startLine"] - 1], before + text + after, *lines[region["endLine"]:]]
    assert ast.dump(ast.parse("\n".join(changed))) != ast.dump(ast.parse("\n".join(lines)))
    for suggestion in diagnostic.get("suggestions", []):
        span = suggestion["range"]
        assert suggestion["text"] == text
        ends = (len(before.encode()) + 1, len(last[:region["endColumn"] - 1].encode()) + 1)
        assert (span["start"]["column"], span["end"]["column"]) == ends
    return True


def test_all_locations_exist_and_cover_an_expression(checkout):
    """Checks all findings of the pitfalls in SARIF (columns in characters) and rdjson (columns in bytes)."""
    sources = {}
    results = json.loads(checkout.lint("sarif"))["runs"][0]["results"]
    diagnostics = json.loads(checkout.lint("rdjson"))["diagnostics"]
    in_python = rewritten = 0
    for result, diagnostic in zip(results, diagnostics, strict=True):
        place = result["locations"][0]["physicalLocation"]
        uri = place["artifactLocation"]["uri"].replace("%C3%B6", "ö").replace("%C3%9F", "ß")
        assert diagnostic["location"]["path"] == uri
        assert (checkout.folder / uri).is_file(), uri
        if not uri.endswith(".py"):
            continue
        in_python += 1
        source = sources.setdefault(uri, Source(checkout.lines(uri)))
        region = place["region"]
        rewritten += check_fix(source.lines, result, diagnostic)
        text = source.lines[region["startLine"] - 1]
        start, end = (len(text[:region[key] - 1].encode()) for key in ("startColumn", "endColumn"))
        assert source.covers(region["startLine"], start, end), (uri, region)
        span = diagnostic["location"]["range"]
        assert (span["start"]["column"], span["end"]["column"]) == (start + 1, end + 1), diagnostic
    assert in_python > 100 and rewritten >= 10 and "src/größe.py" in sources
