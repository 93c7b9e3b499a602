"""Runs mutants in ONNX Runtime, in worker processes: a bad model may crash or hang it."""

import multiprocessing
import os
import re
import resource
from dataclasses import dataclass
from multiprocessing import connection

import numpy as np
from onnx import TensorProto

from . import invalid_mutations, runner

RUNS, REFUSES, CRASHES, HANGS, NOT_JUDGED = "runs", "refuses", "crashes", "hangs", "not judged"

TIMEOUT_SECONDS = 3
MEMORY_BYTES = 6 << 30
# Cases per process.
CHUNK = 500

# Reasons, other than a fault of the model, why a model does not run.
_NO_KERNEL = re.compile(
    r"NOT_IMPLEMENTED|Could not find an implementation|not supported yet|not implemented|does not support \w+ yet|"
    r"Batchwise recurrent operations|tensor type \d+ is not supported|data type is not supported|bad_alloc|"
    r"Items size in the incoming array|Failed to allocate|MemoryError|Unable to allocate|is under development|"
    r"opset .* is not supported", re.I)

# The tried feeds: their values, and the size of symbolic dimensions (None: as in the original feeds).
_VALUES = (("original", None), ("zeros", None), ("ones", None), ("random", None))
_SIZES = (("original", 1), ("original", 2), ("random", 3), ("original", 4))


@dataclass(frozen=True)
class Outcome:
    """The verdict of ONNX Runtime on one model, and its message."""

    verdict: str
    message: str = ""


def outcomes(cases: list, jobs: int) -> list[Outcome]:
    """Returns the outcome of each case, a pair (model, feeds); cases are distributed over processes."""
    results = [None] * len(cases)
    todo = [list(range(start, min(start + CHUNK, len(cases)))) for start in range(0, len(cases), CHUNK)]
    workers = {}
    while todo or workers:
        while todo and len(workers) < jobs:
            chunk = todo.pop()
            pipe, process = _start([cases[index] for index in chunk])
            workers[pipe] = process, chunk
        ready = connection.wait(list(workers), TIMEOUT_SECONDS)
        for pipe in ready or list(workers):
            process, chunk = workers[pipe]
            found = _received(pipe, process) if ready else Outcome(HANGS, f"no answer within {TIMEOUT_SECONDS} s")
            results[chunk.pop(0)] = found
            if found.verdict in (CRASHES, HANGS) or not chunk:
                process.kill()
                process.join()
                pipe.close()
                del workers[pipe]
                todo += [chunk] if chunk else []
    return results


def _start(cases):
    """Starts a process that runs the cases; returns the pipe that it writes outcomes to, and the process."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(theirs, cases), daemon=True)
    process.start()
    theirs.close()
    return ours, process


def _received(pipe, process) -> Outcome:
    try:
        return pipe.recv()
    except EOFError:
        process.join()
        return Outcome(CRASHES, f"the process ended with status {process.exitcode}")


def _work(pipe, cases):
    # ONNX Runtime writes to standard error when it aborts.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for model, feeds in cases:
        pipe.send(outcome(model, feeds))


def outcome(model: bytes, feeds: dict) -> Outcome:
    """Loads a model, and runs it with several feeds until one succeeds."""
    try:
        session = runner.session(model)
    except Exception as error:  # noqa: BLE001 – onnxruntime raises a dozen kinds, some of them bare
        return _refusal(error)
    inputs = session.get_inputs()
    is_symbolic = any(isinstance(dim, str) for value in inputs for dim in value.shape)
    errors = []
    for trial in (*_VALUES, *(_SIZES if is_symbolic else ())):
        try:
            runner.run_session(session, _feeds(session, feeds, *trial))
            return Outcome(RUNS)
        except runner.CannotRun as error:
            return Outcome(NOT_JUDGED, str(error))
        except Exception as error:  # noqa: BLE001
            errors.append(error)
    # A non-float input may be an index or a size. If the error depends on the values, other values may be valid.
    has_parameter = any(not re.search("float|double", value.type) for value in inputs)
    if has_parameter and len(set(map(str, errors[:len(_VALUES)]))) > 1:
        return Outcome(NOT_JUDGED, "depends on values of an input: " + _refusal(errors[0]).message)
    return _refusal(errors[0])


def _refusal(error) -> Outcome:
    message = " ".join(str(error).split())
    return Outcome(NOT_JUDGED if _NO_KERNEL.search(f"{type(error).__name__}: {message}") else REFUSES, message)


_TYPES = {**{word: dtype for word, dtype in (("float", TensorProto.FLOAT), ("double", TensorProto.DOUBLE))},
          **{name.lower(): number for name, number in TensorProto.DataType.items()}}


def _feeds(session, original, manner, size) -> dict:
    random = np.random.default_rng(7)
    found = {}
    for value in session.get_inputs():
        given = original.get(value.name)
        match = re.fullmatch(r"tensor\((\w+)\)", value.type)
        if not match or not isinstance(given, np.ndarray):
            found[value.name] = given
            continue
        dims = [dim if isinstance(dim, int) else size or _size_of(given, axis) for axis, dim in enumerate(value.shape)]
        array = invalid_mutations.cast(given, _TYPES[match[1]])
        array = invalid_mutations.resized(array, dims)
        if manner != "original" and array.dtype != object:
            drawn = {"zeros": np.zeros(dims), "ones": np.ones(dims), "random": random.integers(0, 3, dims)}[manner]
            array = drawn.astype(array.dtype)
        found[value.name] = array
    return found


def _size_of(given, axis) -> int:
    return given.shape[axis] if axis < given.ndim else 1
