"""Tests that failures raise an exception with a diagnostic, and that no file is written."""

import pickle

import onnx
import onnx_lint
import pytest
from onnx_lint import OnnxLintError


def test_input_that_is_not_a_model_raises():
    for function in (onnx_lint.lint, onnx_lint.fix):
        with pytest.raises(OnnxLintError, match="not a valid ONNX model") as caught:
            function(b"\0 nothing of the kind")
        with pytest.raises(OnnxLintError, match="not a valid ONNX model, but text|unrecognized file type"):
            function(b"junk")
        assert [finding.rule for finding in caught.value.findings] == ["unreadable-model"]
        with pytest.raises(OnnxLintError, match="the file is empty"):
            function(b"")
        with pytest.raises(OnnxLintError, match="cannot be read: no such file or directory"):
            function("no.onnx")
        with pytest.raises(TypeError, match="not int"):
            function(3)


def test_truncated_model_raises_with_a_message(faulty):
    held = faulty.read_bytes()
    for end in range(1, len(held), 97):
        for function in (onnx_lint.lint, onnx_lint.fix, onnx_lint.infer_shapes):
            try:
                function(held[:end])
            except OnnxLintError as error:
                assert str(error)


def test_invalid_options_raise_the_message_of_the_command(clumsy):
    with pytest.raises(TypeError, match="lint.. got an unexpected keyword argument 'selct'"):
        onnx_lint.lint(clumsy, selct="EXP")
    with pytest.raises(TypeError, match="unexpected keyword argument 'in_place'"):
        onnx_lint.fix(clumsy, in_place=True)
    with pytest.raises(OnnxLintError) as caught:
        onnx_lint.lint(clumsy, select="EPX")
    assert str(caught.value) == "--select: there is no rule `EPX`; did you mean `EXP`?"
    assert caught.value.findings == []
    with pytest.raises(OnnxLintError) as caught:
        onnx_lint.convert_version(clumsy, 99)
    assert "there is no opset 99: opsets go from 1 to" in str(caught.value)
    assert "Usage" not in str(caught.value)


def test_failed_conversion_names_the_node_and_writes_no_file(tmp_path):
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]> g (float[4,4,4] x) => (float[4] y) { y = Einsum <equation = "iii->i"> (x) }'
    )
    out = tmp_path / "out.onnx"
    with pytest.raises(OnnxLintError, match="`Einsum` cannot be converted to opset 11") as caught:
        onnx_lint.convert_version(model, 11, output=out)
    assert "not-convertible" in [finding.rule for finding in caught.value.findings]
    assert not out.exists()
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.findings) == (str(caught.value), caught.value.findings)


def test_contradictions_are_errors_only_with_check_type_or_strict_mode(contradictory):
    onnx_lint.infer_shapes(contradictory)
    for asked in ({"check_type": True}, {"strict_mode": True}):
        with pytest.raises(OnnxLintError, match="Add"):
            onnx_lint.infer_shapes(contradictory, **asked)


def test_unsupported_options_raise(clumsy):
    for call in (
        lambda: onnx_lint.simplify(clumsy, custom_lib="x.so"),
        lambda: onnx_lint.simplify(clumsy, skipped_optimizers=["fuse_bn"]),
        lambda: onnx_lint.slim(clumsy, dtype="fp16"),
        lambda: onnx_lint.slim(clumsy, inspect=True),
    ):
        with pytest.raises(OnnxLintError, match="the option `.*` is not supported"):
            call()
    with pytest.raises(OnnxLintError, match="`big` is not a size"):
        onnx_lint.simplify(clumsy, tensor_size_threshold="big")
