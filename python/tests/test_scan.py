"""Tests of `scan`, `onnx_lint.ray` and `onnx_lint.spark`, without the engines."""

import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import onnx
import onnx_lint
import onnx_lint.ray
import onnx_lint.spark
import pyarrow as pa
import pytest


@pytest.fixture
def address(clumsy, contradictory):
    """Yields the address of a server with two models. It requires the signature `hush7` for paths in `/signed`."""
    files = {"clumsy.onnx": clumsy.SerializeToString(), "contradictory.onnx": contradictory.SerializeToString()}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            path, _, query = self.path.partition("?")
            body = files.get(path.rsplit("/", 1)[-1])
            if body is None or path.startswith("/signed") and query != "hush7":
                self.send_error(404 if body is None else 403)
                return
            self.send_response(200)
            self.send_header("ETag", f'"{len(body)}"')
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


def rows(uris, **options):
    return onnx_lint.scan(uris, isolated=True, **options).read_all().to_pylist()


def test_rows_have_the_findings_of_lint_and_describe_the_model(address, clumsy, contradictory):
    found = rows([f"{address}/contradictory.onnx", f"{address}/clumsy.onnx"])
    for name, model in (("contradictory", contradictory), ("clumsy", clumsy)):
        own = [row for row in found if row["uri"] == f"{address}/{name}.onnx"]
        expected = [(finding.code, finding.severity, finding.message) for finding in onnx_lint.lint(model)]
        # A model without findings is a row without a code.
        expected = expected or [(None, None, None)]
        assert [(row["code"], row["severity"], row["message"]) for row in own] == expected
        assert {row["etag"] for row in own} == {f'"{model.ByteSize()}"'}
        assert own[0]["opset"] == 17 and own[0]["parameters"] == 0
        assert set(own[0]["operators"]) == {node.op_type for node in model.graph.node}


def test_a_model_without_findings_is_a_row(tmp_path):
    text = '<ir_version: 8, opset_import: ["" : 17]> main (float[N] x) => (float[N] y) { y = Relu (x) }'
    onnx.save(onnx.parser.parse_model(text), tmp_path / "right.onnx")
    row, = rows([tmp_path / "right.onnx"])
    assert row["code"] is None and row["message"] is None and row["operators"] == ["Relu"]


def test_a_file_that_cannot_be_read_is_a_row(address, tmp_path):
    (tmp_path / "broken.onnx").write_bytes(b"no model")
    bad = [f"{address}/missing.onnx", "ftp://user:hush7@host/m.onnx", tmp_path / "broken.onnx", tmp_path / "none.onnx"]
    found = rows(bad)
    assert [row["code"] for row in found] == ["SPC001"] * 4
    assert all(row["severity"] == "error" and row["operators"] is None for row in found)
    assert "hush7" not in str(found)


def test_known_etags_are_skipped(address):
    uris = [f"{address}/clumsy.onnx", f"{address}/contradictory.onnx"]
    etags = {row["uri"]: row["etag"] for row in rows(uris)}
    assert rows(uris, etags=etags) == []
    etags[uris[0]] = '"other"'
    assert {row["uri"] for row in rows(uris, etags=etags)} == {uris[0]}


def test_a_run_over_signed_uris_can_be_resumed_from_its_own_rows(address):
    uris = [f"{address}/signed/clumsy.onnx?hush7", f"{address}/signed/contradictory.onnx?hush7"]
    first = rows(uris)
    assert all(row["code"] != "SPC001" for row in first) and "hush7" not in str(first)
    assert rows(uris, etags={row["uri"]: row["etag"] for row in first}) == []


def test_uris_are_read_as_the_reader_advances(tmp_path):
    taken = []

    def uris():
        for number in range(1000):
            taken.append(number)
            yield tmp_path / f"{number}.onnx"

    reader = onnx_lint.scan(uris(), isolated=True)
    assert not taken
    reader.read_next_batch()
    assert len(taken) < 1000


def test_no_uri_is_an_empty_table_with_all_columns():
    table = onnx_lint.scan([]).read_all()
    assert table.num_rows == 0
    assert table.schema.field("operators").type == pa.list_(pa.string())


def test_an_unknown_option_is_an_error(address):
    with pytest.raises(TypeError, match="oops"):
        onnx_lint.scan([f"{address}/clumsy.onnx"], oops=1)
    with pytest.raises(onnx_lint.OnnxLintError):
        rows([f"{address}/clumsy.onnx"], select=["NOPE"])


def test_ray_and_spark_functions_return_the_rows_of_scan(address):
    uris = [f"{address}/clumsy.onnx", f"{address}/contradictory.onnx"]
    expected = rows(uris)
    batch = pa.table({"uri": uris})
    assert onnx_lint.ray.Scan(isolated=True)(batch).to_pylist() == expected
    parts = onnx_lint.spark.scan(isolated=True)(iter(batch.to_batches(max_chunksize=1)))
    assert [row for part in parts for row in part.to_pylist()] == expected
    known = pa.table({"uri": uris, "etag": [expected[0]["etag"], None]})
    assert {row["uri"] for row in onnx_lint.ray.Scan(isolated=True)(known).to_pylist()} == {uris[1]}
    names = [column.split(" ")[0] for column in onnx_lint.spark.SCHEMA.split(", ")]
    assert names == onnx_lint.scan([]).schema.names


def test_without_pyarrow_the_error_names_the_package():
    code = "import sys; sys.modules['pyarrow'] = None; import onnx_lint; onnx_lint.scan([])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "pip install onnx-lint[arrow]" in ran.stderr
