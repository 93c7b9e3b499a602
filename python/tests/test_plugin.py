"""Tests of the pytest plugin."""

import onnx_lint
import pytest
from onnx_lint.testing import assert_onnx_clean


def test_clean_model_passes_and_faulty_model_fails_with_its_findings(pytester, faulty, clumsy):
    pytester.path.joinpath("clean.onnx").write_bytes(clumsy.SerializeToString())
    pytester.makepyfile(
        f"""
        def test_clean(assert_onnx_clean):
            assert_onnx_clean("clean.onnx")

        def test_faulty(assert_onnx_clean):
            assert_onnx_clean({str(faulty)!r})

        def test_accepted(assert_onnx_clean):
            assert_onnx_clean({str(faulty)!r}, ignore=["baked-shape"])
        """
    )
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(
        [
            "E*AssertionError: onnx-lint: 1 finding at level warning or above",
            "E*error[[]EXP001]: `Reshape` fixes `batch` at 2*",
            "E*= help: take the size from the tensor*",
        ]
    )
    # The helper is hidden from the traceback.
    result.stdout.no_fnmatch_line("*testing.py*in assert_onnx_clean*")


def test_configuration_of_the_project_applies(pytester, faulty):
    pytester.makepyprojecttoml('[tool.onnx-lint]\nignore = ["EXP001"]\n')
    pytester.path.joinpath("faulty.onnx").write_bytes(faulty.read_bytes())
    pytester.makepyfile("def test_it(assert_onnx_clean): assert_onnx_clean('faulty.onnx')")
    pytester.runpytest_subprocess().assert_outcomes(passed=1)


def test_findings_below_the_level_pass(clumsy):
    assert_onnx_clean(clumsy)
    with pytest.raises(AssertionError, match="OPT101"):
        assert_onnx_clean(clumsy, level="hint", severity="hint")
    with pytest.raises(onnx_lint.OnnxLintError, match="not a valid ONNX model"):
        assert_onnx_clean(b"\0nothing")
