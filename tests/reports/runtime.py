"""Runs models in ONNX Runtime at several sizes, with graph optimizations off."""

from dataclasses import dataclass, field

import numpy as np
import onnxruntime

from conformance import values

from .commands import SIZES

onnxruntime.set_default_logger_severity(4)

DTYPES = {
    "tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(float16)": np.float16,
    "tensor(bool)": np.bool_, "tensor(int8)": np.int8, "tensor(int16)": np.int16, "tensor(int32)": np.int32,
    "tensor(int64)": np.int64, "tensor(uint8)": np.uint8, "tensor(uint16)": np.uint16,
    "tensor(uint32)": np.uint32, "tensor(uint64)": np.uint64,
}


def session(model) -> onnxruntime.InferenceSession:
    """Creates a session on one thread. Raises the exceptions of ONNX Runtime."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])


@dataclass
class Runs:
    """Outputs of a model by size, and the reason if it did not load, or did not run at some size."""

    outputs: dict[int, list] = field(default_factory=dict)
    loads: bool = True
    reason: str = ""
    # False if an input is not a tensor of a NumPy type, or a kernel is missing.
    judged: bool = True


def draw(dtype, shape, seed: int) -> np.ndarray:
    """Returns random elements: floats from −1 to 1, and integers 0 or 1.

    The integers 0 and 1 are valid indices of axes of size 2.
    """
    random = np.random.default_rng(seed)
    if np.dtype(dtype).kind in "iub":
        return random.integers(0, 2, shape).astype(dtype)
    return (random.random(shape) * 2 - 1).astype(dtype)


def feeds(inputs, size: int, seed: int) -> dict | None:
    """Returns values for all inputs, with one size for dynamic axes; None if an input is not a NumPy tensor."""
    given = {}
    for index, port in enumerate(inputs):
        if port.type not in DTYPES:
            return None
        shape = [axis if isinstance(axis, int) else size for axis in port.shape]
        given[port.name] = draw(DTYPES[port.type], shape, seed * 31 + index)
    return given


def run(model) -> Runs:
    """Runs a model at every size."""
    try:
        opened = session(model)
    except Exception as error:  # noqa: BLE001 – onnxruntime raises a dozen kinds
        return Runs(loads=False, reason=line(error), judged="NOT_IMPLEMENTED" not in str(error))
    runs = Runs()
    for size in SIZES:
        given = feeds(opened.get_inputs(), size, size)
        if given is None:
            return Runs(judged=False)
        try:
            runs.outputs[size] = opened.run(None, given)
        except Exception as error:  # noqa: BLE001
            runs.reason = line(error)
            runs.judged &= "NOT_IMPLEMENTED" not in runs.reason
    return runs


def difference(expected: list, got: list, rtol: float, share: float) -> str | None:
    """Returns the first difference between two lists of outputs, or None."""
    if len(expected) != len(got):
        return f"{len(expected)} outputs, got {len(got)}"
    for want, have in zip(expected, got):
        if reason := values.difference(want, have, *tolerance(want, rtol, share)):
            return reason
    return None


def tolerance(expected, rtol: float, share: float) -> tuple[float, float]:
    """Returns relative and absolute tolerance: 0 except for floats."""
    if not isinstance(expected, np.ndarray) or expected.dtype.kind != "f":
        return 0, 0
    finite = np.abs(expected[np.isfinite(expected)])
    return rtol, share * max(1.0, float(finite.max(initial=0)))


def line(error) -> str:
    """Returns the first line of an error, shortened."""
    return (str(error).splitlines() or [type(error).__name__])[0][:150]
