"""Tests of `fix`, `convert_version`, `infer_shapes`, `simplify` and `slim`."""

import json
from pathlib import Path

import onnx
import onnx_lint
import pytest

FUNCTIONS = {
    "fix": onnx_lint.fix,
    "convert_version": lambda model, **options: onnx_lint.convert_version(model, 13, **options),
    "infer_shapes": onnx_lint.infer_shapes,
    "slim": lambda model, output=None: onnx_lint.slim(model, output) or output,
    "simplify": lambda model: onnx_lint.simplify(model)[0],
}


def ops(model: onnx.ModelProto) -> list[str]:
    return [node.op_type for node in model.graph.node]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_result_has_the_type_of_the_input(name, clumsy, tmp_path):
    function = FUNCTIONS[name]
    path = tmp_path / "in.onnx"
    onnx.save(clumsy, path)
    proto = function(clumsy)
    assert isinstance(proto, onnx.ModelProto)
    held = function(path.read_bytes())
    assert isinstance(held, bytes)
    assert onnx.load_from_string(held) == proto
    for named in (path, str(path)):
        assert function(named) == proto
    assert ops(clumsy) == ["Transpose", "Transpose", "Relu"], "the input was modified"
    if name != "simplify":
        out = tmp_path / "out.onnx"
        for model in (clumsy, held, path):
            assert function(model, output=out) == out
            assert isinstance(onnx.load(out), onnx.ModelProto)


def test_fix_simplifies_fixes_and_reports(clumsy, faulty, tmp_path):
    assert ops(onnx_lint.fix(clumsy)) == ["Relu"]
    assert ops(onnx_lint.fix(clumsy, no_optimize=True, select="none")) == ops(clumsy)
    fixed = onnx_lint.fix(faulty)
    assert onnx_lint.lint(fixed) == []
    report = tmp_path / "report.json"
    static = onnx_lint.fix(clumsy, fix_shape={"x": [3, 4]}, opset=18, report=report)
    assert static.opset_import[0].version == 18
    assert static.graph.input[0].type.tensor_type.shape.dim[0].dim_value == 3
    assert json.loads(report.read_text())["opset"] == {"from": 17, "to": 18}
    dynamic = onnx_lint.fix(static, dynamic={"x": {0: "batch"}})
    assert dynamic.graph.input[0].type.tensor_type.shape.dim[0].dim_param == "batch"


def test_convert_version_changes_only_the_opset(clumsy):
    for opset in (7, 11, 13, 21):
        converted = onnx_lint.convert_version(clumsy, opset)
        assert converted.opset_import[0].version == opset
        assert ops(converted) == ops(clumsy)
        onnx.checker.check_model(converted, full_check=True)
    with pytest.raises(TypeError):
        onnx_lint.convert_version(clumsy, "13")


def test_infer_shapes_matches_onnx(clumsy):
    own = onnx_lint.infer_shapes(clumsy, True, True, True)
    assert ops(own) == ops(clumsy)
    shapes = {value.name: value.type for value in own.graph.value_info}
    assert shapes == {value.name: value.type for value in onnx.shape_inference.infer_shapes(clumsy).graph.value_info}
    assert shapes


def test_simplify_supports_the_options_of_onnxsim(clumsy):
    model, is_equal = onnx_lint.simplify(clumsy, 0, False)
    assert (ops(model), is_equal) == (ops(clumsy), True)
    model, _ = onnx_lint.simplify(clumsy, overwrite_input_shapes={"x": [5, 4]}, tensor_size_threshold="1.5GB")
    assert model.graph.input[0].type.tensor_type.shape.dim[0].dim_value == 5
    model, _ = onnx_lint.simplify(clumsy, target_opset_version=13, skip_fuse_bn=True, skip_constant_folding=True)
    assert (ops(model), model.opset_import[0].version) == (["Relu"], 13)


def test_skip_constant_folding_keeps_computed_constants():
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]> g (float[2] x) => (float[2] y) <float[2] w = {1, 2}>'
        " { e = Exp (w)  y = Add (x, e) }"
    )
    assert ops(onnx_lint.simplify(model)[0]) == ["Add"]
    assert ops(onnx_lint.simplify(model, skip_constant_folding=True)[0]) == ["Exp", "Add"]


def test_slim_supports_the_options_of_onnxslim(clumsy, tmp_path):
    assert ops(onnx_lint.slim(clumsy, input_shapes=["x:1,4"])) == ["Relu"]
    out = tmp_path / "slim.onnx"
    assert onnx_lint.slim(clumsy, str(out)) is None
    assert ops(onnx.load(out)) == ["Relu"]


def test_check_n_and_model_check_compare_in_onnxruntime(clumsy, monkeypatch):
    pytest.importorskip("onnxruntime")
    monkeypatch.delenv("ORT_DYLIB_PATH", raising=False)
    assert onnx_lint.simplify(clumsy, check_n=3)[1] is True
    assert ops(onnx_lint.slim(clumsy, model_check=True)) == ["Relu"]


def test_external_data_is_read_and_written(with_weights, tmp_path):
    whole = onnx.load(with_weights)
    simpler = onnx_lint.fix(with_weights)
    assert ops(simpler) == ["Mul"]
    data = {tensor.name: tensor.raw_data for tensor in simpler.graph.initializer}
    assert data["w"] == next(tensor.raw_data for tensor in whole.graph.initializer if tensor.name == "w")
    (tmp_path / "there").mkdir()
    out = onnx_lint.fix(with_weights, output=tmp_path / "there/net.onnx")
    assert sorted(path.name for path in out.parent.iterdir()) == ["net.data", "net.onnx"]
    assert onnx.load(out) == simpler
    # For a model in memory, external data is looked up in the current directory, which is empty.
    apart = onnx.load(with_weights, load_external_data=False)
    with pytest.raises(onnx_lint.OnnxLintError, match="net.data"):
        onnx_lint.fix(apart)


def test_model_above_2_gib_is_linted_and_fixed_by_path(tmp_path):
    """The weights are a sparse file: neither linting nor fixing reads them."""
    elements = (1 << 29) + 1
    model = onnx.parser.parse_model(
        f'<ir_version: 8, opset_import: ["" : 17]> g (float[{elements}] x) => (float[{elements}] y)'
        "{ t = Identity (x)  y = Add (t, w) }"
    )
    weights = onnx.TensorProto(
        name="w", dims=[elements], data_type=onnx.TensorProto.FLOAT, data_location=onnx.TensorProto.EXTERNAL
    )
    weights.external_data.add(key="location", value="w.data")
    model.graph.initializer.append(weights)
    path = tmp_path / "large.onnx"
    path.write_bytes(model.SerializeToString())
    with (tmp_path / "w.data").open("wb") as data:
        data.truncate(4 * elements)
    assert onnx_lint.lint(path) == []
    out: Path = onnx_lint.fix(path, output=tmp_path / "out.onnx")
    assert ops(onnx.load(out, load_external_data=False)) == ["Add"]
