"""Runs models in ONNX Runtime, or in onnx's ReferenceEvaluator if ONNX Runtime fails or is wrong for the test."""

import functools
import re

import numpy as np
import onnx
import onnxruntime
from onnx.reference import ReferenceEvaluator

from . import values

onnxruntime.set_default_logger_severity(4)


# The latest opset that ONNX Runtime supports, and its IR version.
LAST_RELEASED, LAST_RELEASED_IR = 26, 13


class CannotRun(Exception):
    """The model cannot be run; the message has the reasons."""


def in_runtime(model: bytes | str, feeds: dict, *, optimize: bool = False) -> list:
    """Returns the outputs of ONNX Runtime, with graph optimizations at their default or off."""
    return run_session(session(model, optimize=optimize), feeds)


def session(model: bytes | str, *, optimize: bool = False) -> onnxruntime.InferenceSession:
    """Loads a model in ONNX Runtime, with graph optimizations at their default or off."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    if not optimize:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def run_session(loaded: onnxruntime.InferenceSession, feeds: dict) -> list:
    """Returns the outputs of a loaded model. Feeds that are not inputs of the model are ignored."""
    declared = {i.name for i in loaded.get_inputs()} | {i.name for i in loaded.get_overridable_initializers()}
    given = {name: value for name, value in feeds.items() if name in declared}
    types = " ".join(value.type for value in [*loaded.get_inputs(), *loaded.get_outputs()])
    if re.search("bfloat16|float8", types):
        return _run_typed(loaded, given)
    if re.search("int[24]|float[46]", types):
        raise CannotRun("the Python interface of ONNX Runtime does not support types of less than 8 bits")
    return loaded.run(None, given)


def by_reference(model: onnx.ModelProto, feeds: dict) -> list:
    """Returns the outputs of onnx's ReferenceEvaluator."""
    evaluator = ReferenceEvaluator(model)
    with np.errstate(all="ignore"):
        return evaluator.run(None, {name: feeds[name] for name in evaluator.input_names if name in feeds})


def outputs(model: onnx.ModelProto, feeds: dict) -> list:
    """Returns the outputs of ONNX Runtime, or of the ReferenceEvaluator if that fails."""
    try:
        return in_runtime(model.SerializeToString(), feeds)
    except Exception:  # noqa: BLE001 – onnxruntime raises a dozen kinds, some of them bare
        return by_reference(model, feeds)


class Judge:
    """Compares models that should be equivalent to the model of a node test with the stored outputs of the test.

    ONNX Runtime runs the models. If ONNX Runtime cannot run a model, or computes wrong outputs for the test itself,
    onnx's ReferenceEvaluator runs the model. If ONNX Runtime and the ReferenceEvaluator both compute wrong outputs for
    the test, the outputs of the test's own model are expected instead of the stored ones. For random outputs, only
    types and shapes are compared.
    """

    def __init__(self, test):
        self.test = test
        self.expected = test.outputs
        self.by_runtime = self._run_test(self._in_runtime) is None
        self.by_reference = self.by_runtime or self._run_test(by_reference) is None
        if not self.by_reference:
            self._expect_outputs_of_test()

    def mismatch(self, model: onnx.ModelProto) -> str | None:
        """Returns the difference between the outputs of a model and the expected ones, or None. Raises CannotRun."""
        refused = "gets the test itself wrong"
        if self.by_runtime:
            try:
                return self._compare(self._in_runtime(model, self.test.feeds))
            except Exception as error:  # noqa: BLE001 – onnxruntime raises a dozen kinds, some of them bare
                refused = _line(error)
        try:
            return self._compare(by_reference(model, self.test.feeds), self._expected_of_reference)
        except Exception as error:  # noqa: BLE001
            failure = CannotRun(f"ONNX Runtime: {refused}; ReferenceEvaluator: {_line(error)}")
            released = as_released(model) if self.by_runtime else None
            try:
                return self._compare(self._in_runtime(released, self.test.feeds))
            except Exception:  # noqa: BLE001
                raise failure from error

    @functools.cached_property
    def _expected_of_reference(self) -> list:
        """Expected outputs: the stored ones or, if the ReferenceEvaluator fails the original test, its outputs."""
        if not self.by_runtime or self._run_test(by_reference) is None:
            return self.expected
        return by_reference(self.test.model, self.test.feeds)

    def _expect_outputs_of_test(self):
        try:
            self.expected, self.by_runtime = self._in_runtime(self.test.model, self.test.feeds), True
        except Exception:  # noqa: BLE001 – no kernel for it
            self.expected = by_reference(self.test.model, self.test.feeds)

    def _run_test(self, evaluate) -> str | None:
        try:
            return self._compare(evaluate(self.test.model, self.test.feeds))
        except Exception as error:  # noqa: BLE001
            return _line(error)

    def _compare(self, got: list, expected: list | None = None) -> str | None:
        expected = self.expected if expected is None else expected
        if self.test.deterministic:
            return values.difference(expected, got, self.test.rtol, self.test.atol)
        zeros = [list(map(np.zeros_like, outputs)) for outputs in (expected, got)]
        return values.difference(*zeros, rtol=0, atol=0)

    @staticmethod
    def _in_runtime(model, feeds):
        return in_runtime(model.SerializeToString(), feeds)


def as_released(model: onnx.ModelProto) -> onnx.ModelProto | None:
    """Returns the model at the latest opset that ONNX Runtime supports.

    Returns None if the model already has that opset or an older one, if it has functions, or if one of its operators
    changed in a later opset.
    """
    [own] = [opset for opset in model.opset_import if opset.domain == ""]
    names = {node.op_type for node in nodes(model) if node.domain == ""}
    if own.version <= LAST_RELEASED or model.functions or any(
            onnx.defs.get_schema(name, own.version).since_version > LAST_RELEASED for name in names):
        return None
    released = onnx.ModelProto()
    released.CopyFrom(model)
    [own] = [opset for opset in released.opset_import if opset.domain == ""]
    own.version, released.ir_version = LAST_RELEASED, LAST_RELEASED_IR
    return released


def nodes(model: onnx.ModelProto):
    """Yields the nodes of all graphs and functions of a model."""
    open_lists = [model.graph.node, *(function.node for function in model.functions)]
    while open_lists:
        for node in open_lists.pop():
            yield node
            for attribute in node.attribute:
                open_lists += [body.node for body in (attribute.g, *attribute.graphs)]


def models_differ(first: bytes | str, second: bytes | str, feeds: list[dict], *, exactly=False) -> str | None:
    """Returns the first difference between the outputs of two models in ONNX Runtime, or None.

    Both models run with graph optimizations off and on, which select different kernels. The difference between the two
    runs of the first model estimates its rounding error. Exceptions of ONNX Runtime are propagated.
    """
    for given in feeds:
        plain, optimized = (in_runtime(first, given, optimize=optimize) for optimize in (False, True))
        for optimize, expected in ((False, plain), (True, optimized)):
            got = in_runtime(second, given, optimize=optimize)
            for index, (want, have) in enumerate(zip(expected, got, strict=True)):
                rtol, atol = (0, 0) if exactly else _tolerance(want, _distance(plain[index], optimized[index]))
                if reason := values.difference(want, have, rtol, atol):
                    return f"{reason} (optimizations {'on' if optimize else 'off'})"
    return None


def _distance(first, second) -> float:
    """Returns the max absolute difference of two float tensors; 0 for other values or different shapes."""
    if not isinstance(first, np.ndarray) or first.dtype.kind != "f" or first.shape != second.shape or not first.size:
        return 0
    with np.errstate(all="ignore"):
        apart = np.abs(first.astype(np.float64) - second.astype(np.float64))
    return float(np.max(apart[np.isfinite(apart)], initial=0))


def _tolerance(expected, noise: float) -> tuple[float, float]:
    """Returns relative tolerance, and absolute tolerance in proportion to the largest value of an output.

    The absolute tolerance is at least the machine epsilon of the element type: small values are differences of values
    near 1, and kernels of ONNX Runtime round differently if they can pack constant weights. The absolute tolerance is
    also at least twice the noise of the original model.
    """
    if not isinstance(expected, np.ndarray) or expected.dtype.kind != "f" or not expected.size:
        return 0, 0
    share = 1e-2 if expected.dtype.itemsize < 4 else 1e-4
    largest = np.nanmax(np.abs(expected.astype(np.float64)))
    step = float(np.finfo(expected.dtype).eps)
    return share, max(step, 2 * noise, share * (largest if np.isfinite(largest) else 1))


def _run_typed(session, feeds):
    """Runs a session whose element types NumPy lacks: passes raw bytes in typed OrtValues."""
    typed = {}
    for name, value in feeds.items():
        element_type = onnx.helper.np_dtype_to_tensor_dtype(value.dtype)
        raw = value.view(f"u{value.dtype.itemsize}") if values.is_special(value.dtype) else value
        typed[name] = onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(np.ascontiguousarray(raw), element_type)
    outputs = session.run_with_ort_values(None, typed)
    dtypes = [onnx.helper.tensor_dtype_to_np_dtype(value.element_type()) for value in outputs]
    return [value.numpy().view(dtype) for value, dtype in zip(outputs, dtypes)]


def _line(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]
