"""Where findings are said to be: files and lines that exist, and columns whose text is an expression of Python."""

import ast
import json


class Source:
    """The constructs of a file of Python, by where they begin and end."""

    def __init__(self, lines: list[str]):
        self.lines = lines
        nodes = [node for node in ast.walk(ast.parse("\n".join(lines))) if hasattr(node, "lineno")]
        self.spans = {(node.lineno, node.col_offset): set() for node in nodes}
        for node in nodes:
            self.spans[node.lineno, node.col_offset].add((node.end_lineno, node.end_col_offset))
            if isinstance(node, (ast.For, ast.While, ast.If, ast.With, ast.FunctionDef, ast.ClassDef)):
                # Of a statement with a body, its head is meant.
                head = lines[node.lineno - 1].split(" #")[0]
                self.spans[node.lineno, node.col_offset].add((node.lineno, head.rfind(":") + 1))

    def covers(self, line: int, start: int, end: int) -> bool:
        """Whether columns of a line, in bytes, are those of a construct, or of the first line of one."""
        text = self.lines[line - 1].encode()
        ends = self.spans.get((line, start), set())
        return (line, end) in ends or (any(last > line for last, _ in ends) and end == len(text.rstrip()))


def holds_what_is_written(lines: list[str], result: dict, diagnostic: dict) -> bool:
    """Whether a result has a fix: one that leaves Python, other than it was, and is the suggestion of rdjson as well."""
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


def test_all_places_exist_and_cover_an_expression(checkout):
    """On all findings of the pitfalls, by SARIF, which counts characters, and by rdjson, which counts bytes."""
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
        rewritten += holds_what_is_written(source.lines, result, diagnostic)
        text = source.lines[region["startLine"] - 1]
        start, end = (len(text[:region[key] - 1].encode()) for key in ("startColumn", "endColumn"))
        assert source.covers(region["startLine"], start, end), (uri, region)
        span = diagnostic["location"]["range"]
        assert (span["start"]["column"], span["end"]["column"]) == (start + 1, end + 1), diagnostic
    assert in_python > 100 and rewritten >= 10 and "src/größe.py" in sources
