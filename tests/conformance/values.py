"""Conversion and comparison of ONNX values: tensors, sequences, optionals, maps."""

import numpy as np
import onnx


def plain(value):
    """Converts a stored value to NumPy: TensorProto and scalars become arrays, sequences become lists."""
    if isinstance(value, onnx.TensorProto):
        return onnx.numpy_helper.to_array(value)
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if value is None or isinstance(value, dict):
        return value
    return np.asarray(value)


def is_special(dtype) -> bool:
    """Returns True for element types of ml_dtypes, which NumPy itself lacks (bfloat16, float8, int4, …)."""
    return np.dtype(dtype).kind == "V" or np.dtype(dtype).type.__module__.startswith("ml_dtypes")


def difference(expected, got, rtol: float, atol: float) -> str | None:
    """Returns the reason why two values are not equal within the tolerance, or None.

    Types and shapes must match exactly.
    """
    if isinstance(expected, (list, tuple)):
        if not isinstance(got, (list, tuple)) or len(expected) != len(got):
            return f"a sequence of {len(expected)}, got {_kind(got)}"
        found = (difference(want, have, rtol, atol) for want, have in zip(expected, got))
        return next((reason for reason in found if reason), None)
    if expected is None or got is None:
        return None if expected is got else f"{_kind(expected)}, got {_kind(got)}"
    if isinstance(expected, dict):
        return None if expected == got else "different maps"
    return _array_difference(np.asarray(expected), np.asarray(got), rtol, atol)


def _array_difference(expected, got, rtol, atol):
    if _is_text(expected) and _is_text(got):
        expected, got = expected.astype(str), got.astype(str)
    elif expected.dtype != got.dtype:
        return f"type {expected.dtype}, got {got.dtype}"
    if expected.shape != got.shape:
        return f"shape {list(expected.shape)}, got {list(got.shape)}"
    if _is_text(expected) or expected.dtype == bool:
        return None if np.array_equal(expected, got) else "values"
    if is_special(expected.dtype):
        expected, got = expected.astype(np.float32), got.astype(np.float32)
    if np.allclose(got, expected, rtol=rtol, atol=atol, equal_nan=True):
        return None
    with np.errstate(all="ignore"):
        distance = np.abs(expected.astype(np.complex128) - got.astype(np.complex128))
        return f"values, by up to {np.nanmax(distance):.3g}"


def _is_text(array) -> bool:
    return array.dtype.kind in "OSU"


def _kind(value) -> str:
    if value is None:
        return "nothing"
    return f"a sequence of {len(value)}" if isinstance(value, (list, tuple)) else f"a {type(value).__name__}"
