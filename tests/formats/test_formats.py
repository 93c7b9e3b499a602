"""Validates each output format for programs and browsers with its schema, or with a tool that reads it."""

import json
import re
import xml.etree.ElementTree as etree
from types import SimpleNamespace

import html5lib
import pyarrow as pa
import pyarrow.parquet as parquet
from diff_cover.violationsreporters.java_violations_reporter import CheckstyleXmlDriver
from diff_cover.git_path import GitPathTool
from junitparser import Failure, JUnitXml

from conftest import model_explorer, own, published


def test_sarif_matches_its_schema(checkout, findings):
    log = json.loads(checkout.lint("sarif"))
    published("https://json.schemastore.org/sarif-2.1.0.json")(log)
    assert len(log["runs"][0]["results"]) == len(findings)


def test_json_matches_its_schema_and_json_lines(checkout, findings):
    validate = own("docs/findings.schema.json")
    validate(findings)
    lines = [json.loads(line) for line in checkout.lint("json-lines").splitlines()]
    assert lines == findings


def test_json_schema_rejects_unknown_keys_and_values(findings):
    validate = own("docs/findings.schema.json")
    for broken in ({**findings[0], "more": 1}, {**findings[0], "severity": "bad"}, {"file": "x"}):
        try:
            validate([broken])
        except ValueError:
            continue
        raise AssertionError(broken)


def test_tables_have_the_findings(checkout, findings):
    paths = {name: checkout.folder / f"findings.{name}" for name in ("arrow", "parquet")}
    for name, path in paths.items():
        checkout.lint(name, ".", "--output-file", str(path))
    arrow, table = pa.ipc.open_file(paths["arrow"]).read_all(), parquet.read_table(paths["parquet"])
    assert arrow.equals(table)
    assert not arrow.schema.field("uri").nullable and arrow.schema.field("operators").type.value_type == pa.string()
    rows = [row for row in table.to_pylist() if row["code"] is not None]
    of_row = [(row["uri"], row["code"], row["severity"], row["fingerprint"], row["message"]) for row in rows]
    keys = ("file", "code", "severity", "fingerprint", "message")
    assert of_row == [tuple(finding[key] for key in keys) for finding in findings]
    models = {path.name for path in (checkout.folder / "models").glob("*.onnx")}
    assert {row["uri"].rsplit("/", 1)[-1] for row in table.to_pylist()} >= models


def test_gitlab_report_has_required_keys_and_unique_fingerprints(checkout, findings):
    """GitLab's documentation and its parser require these keys and values."""
    report = json.loads(checkout.lint("gitlab"))
    assert isinstance(report, list) and len(report) == len(findings)
    for issue in report:
        assert all(isinstance(issue[key], str) and issue[key] for key in ("description", "check_name", "fingerprint"))
        assert issue["severity"] in ("info", "minor", "major", "critical", "blocker")
        path, begin = issue["location"]["path"], issue["location"]["lines"]["begin"]
        assert not path.startswith(("/", "./")) and (checkout.folder / path).is_file()
        assert isinstance(begin, int) and begin >= 1
    fingerprints = [issue["fingerprint"] for issue in report]
    assert len(set(fingerprints)) == len(fingerprints)


# For each element in the schema of Jenkins' xUnit plugin, junit-10.xsd: allowed attributes, required attributes, and child
# elements.
XUNIT = {
    "testsuites": ({"name", "time", "tests", "failures", "errors"}, set(), {"testsuite"}),
    "testsuite": ({"name", "tests", "failures", "errors", "group", "time", "skipped", "timestamp", "hostname", "id",
                   "package", "file", "log", "url"}, {"name", "tests", "failures", "errors"},
                  {"testsuite", "properties", "testcase", "system-out", "system-err"}),
    "testcase": ({"name", "time", "classname", "group"}, {"name"},
                 {"skipped", "error", "failure", "system-out", "system-err"}),
    "failure": ({"type", "message"}, set(), set()),
    "system-out": (set(), set(), set()),
}


def test_junit_matches_the_xunit_schema_and_counts(checkout, findings):
    text = checkout.lint("junit")
    root = etree.fromstring(text)
    assert root.tag == "testsuites"
    for element in root.iter():
        allowed, needed, children = XUNIT[element.tag]
        assert needed <= set(element.attrib) <= allowed, element.attrib
        assert {child.tag for child in element} <= children
    report = JUnitXml.fromstring(text)
    cases = [case for suite in report for case in suite]
    failed = [case for case in cases if any(isinstance(result, Failure) for result in case.result)]
    assert len(failed) == sum(finding["severity"] in ("error", "warning") for finding in findings)
    for suite in report:
        counted = (suite.tests, suite.failures, suite.errors)
        suite.update_statistics()
        assert counted == (suite.tests, suite.failures, suite.errors)
    assert (report.tests, report.failures) == (len(cases), len(failed))


def test_checkstyle_is_read_by_diff_cover(checkout, findings, monkeypatch):
    monkeypatch.setattr(GitPathTool, "relative_path", staticmethod(lambda path: path))
    violations = CheckstyleXmlDriver().parse_reports([checkout.lint("checkstyle").split("\n", 1)[1]])
    assert sum(map(len, violations.values())) == len(findings)
    for path, of_file in violations.items():
        assert (checkout.folder / path).is_file()
        assert all(violation.line >= 1 and re.match("(error|warning|info): ", violation.message) for violation in of_file)


def test_rdjson_has_the_fields_of_reviewdog(checkout, findings):
    """Checks fields and types against reviewdog's protobuf message DiagnosticResult."""
    result = json.loads(checkout.lint("rdjson"))
    assert set(result) == {"source", "diagnostics"} and set(result["source"]) == {"name"}
    assert len(result["diagnostics"]) == len(findings)
    for diagnostic in result["diagnostics"]:
        assert set(diagnostic) - {"suggestions"} == {"message", "location", "severity", "code"}
        assert diagnostic["severity"] in ("ERROR", "WARNING", "INFO")
        assert set(diagnostic["code"]) == {"value"}
        location = diagnostic["location"]
        assert (checkout.folder / location["path"]).is_file()
        spans = location.get("range", {})
        assert set(spans) <= {"start", "end"}
        for position in spans.values():
            assert set(position) <= {"line", "column"} and all(number >= 1 for number in position.values())


def test_github_commands_are_escaped(checkout):
    """Parses workflow commands like GitHub's runner: properties end at the first `::`, and values are escaped."""
    for line in checkout.lint("github").splitlines():
        command = re.fullmatch(r"::(error|warning|notice) (.*?)::(.+)", line)
        assert command, line
        properties = dict(part.split("=", 1) for part in command[2].split(","))
        assert set(properties) <= {"file", "line", "col", "endColumn", "endLine", "title"}
        assert not re.search("[\r\n:,]", "".join(properties.values()))
        # Every percent sign must start an escape.
        assert not re.search("%(?!25|0D|0A|3A|2C)", "".join(properties.values()))
        assert not re.search("%(?!25|0D|0A)", command[3])
        path = properties["file"].replace("%2C", ",").replace("%3A", ":").replace("%25", "%")
        assert (checkout.folder / path).is_file()
        assert all(properties[key].isdigit() for key in properties if key not in ("file", "title"))


def test_azure_commands_are_parsed_by_the_agent(checkout):
    """Parses logging commands like the agent of Azure Pipelines, which ignores all other lines."""
    commands = 0
    for line in checkout.lint("azure").splitlines():
        if "##vso[" not in line:
            assert re.match(r"\S+(:\d+)?: (info|hint)\[", line), line
            continue
        command = re.fullmatch(r"##vso\[task\.logissue ([^\]]*)\](.+)", line)
        assert command, line
        properties = dict(part.split("=", 1) for part in command[1].split(";"))
        assert {"type", "sourcepath", "code"} <= set(properties)
        assert set(properties) <= {"type", "sourcepath", "linenumber", "columnnumber", "code"}
        assert properties["type"] in ("error", "warning")
        assert (checkout.folder / properties["sourcepath"]).is_file()
        commands += 1
    assert commands > 30


def test_html_is_valid(checkout):
    """A strict HTML parser accepts the report."""
    document = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parse(checkout.lint("html"))
    assert document.find("body/main") is not None


def test_model_explorer_data_refers_to_its_nodes(checkout, tmp_path):
    """Model Explorer's classes read the data, and every key is the id of a node in its ONNX adapter."""
    model_explorer()
    from model_explorer.node_data_builder import GraphNodeData, ModelNodeData, NodeDataResult
    from model_explorer_onnx.main import ONNXAdapter

    adapter = ONNXAdapter.__new__(ONNXAdapter)
    models = sorted({finding["file"] for finding in json.loads(checkout.lint("json")) if finding["file"].endswith("17.onnx")})
    assert len(models) > 5
    for model in models:
        text = checkout.lint("model-explorer", model)
        graphs = {name: GraphNodeData(**{**graph, "results": {node: NodeDataResult(**result)
                                                              for node, result in graph["results"].items()}})
                  for name, graph in json.loads(text).items()}
        built = json.loads(ModelNodeData(graphs).to_json_string())
        assert {name: graph["results"] for name, graph in built.items()} \
            == {name: graph["results"] for name, graph in json.loads(text).items()}
        shown = adapter.convert(str(checkout.folder / model), {})["graphs"]
        for name, graph in graphs.items():
            nodes, = (graph.nodes for graph in shown if graph.id == name)
            assert set(graph.results) <= {node.id for node in nodes}
