"""Runs cases in a runtime, in the environment of that runtime. Requires only NumPy and the runtime.

Usage: outcomes.py RUNTIME FOLDER < cases. Reads and prints one JSON line per case.
"""

import json
import multiprocessing
import os
import sys
from pathlib import Path

import numpy as np

SECONDS = 60


class OnnxRuntime:
    """ONNX Runtime on the CPU, without optimizations that could bypass a kernel."""

    def __init__(self):
        import onnxruntime
        onnxruntime.set_default_logger_severity(4)
        self.runtime = onnxruntime
        self.version = onnxruntime.__version__

    def run(self, path, feeds, outputs):
        options = self.runtime.SessionOptions()
        options.log_severity_level = 4
        options.intra_op_num_threads = 1
        options.graph_optimization_level = self.runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = self.runtime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        return session.run(outputs, feeds)


class OpenCV:
    """The DNN module of OpenCV on the CPU."""

    def __init__(self):
        import cv2
        cv2.setNumThreads(1)
        cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_SILENT)
        self.cv2 = cv2
        self.version = cv2.__version__

    def run(self, path, feeds, outputs):
        net = self.cv2.dnn.readNetFromONNX(str(path))
        for name, value in feeds.items():
            net.setInput(value, name)
        found = net.forward(outputs)
        return [found] if isinstance(found, np.ndarray) else list(found)


class OpenVINO:
    """OpenVINO's CPU plugin, with float32 as the precision of inference."""

    def __init__(self):
        import openvino
        self.openvino = openvino
        self.core = openvino.Core()
        self.version = openvino.__version__.split("-")[0]

    def run(self, path, feeds, outputs):
        model = self.core.read_model(str(path))
        hints = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1}
        compiled = self.core.compile_model(model, "CPU", hints)
        # OpenVINO drops unused inputs when it compiles a model, so only the remaining inputs get values.
        read = set().union(*(value.get_names() for value in compiled.inputs))
        found = compiled({name: value for name, value in feeds.items() if name in read})
        return [found[index] for index in range(len(outputs))]


RUNTIMES = {"onnxruntime": OnnxRuntime, "opencv": OpenCV, "openvino": OpenVINO}


def outcome(runtime, folder, case) -> str:
    """Returns `equal`, the error of the runtime, or the difference of its results."""
    path = folder / f"{case['name']}.onnx"
    arrays = np.load(folder / f"{case['name']}.npz")
    feeds = {key[3:]: _fed(arrays[key]) for key in arrays.files if key.startswith("in:")}
    expected = [arrays[f"out:{name}"] for name in case["outputs"]]
    try:
        found = runtime.run(path, feeds, case["outputs"])
    except Exception as error:  # noqa: BLE001 – runtimes have different exception types
        return "refused: " + " ".join(str(error).split())[:200]
    if len(found) < len(expected):
        return f"wrong: {len(found)} outputs"
    for want, have in zip(expected, found):
        difference = _difference(want, np.asarray(have), case["rtol"], case["atol"])
        if difference:
            return f"wrong: {difference}"
    return "equal"


def _fed(value):
    return value.astype(object) if value.dtype.kind == "U" else value


def _difference(want, have, rtol, atol):
    if want.dtype.kind == "U":
        return None if have.shape == want.shape and (have.astype(str) == want).all() else "texts"
    # Runtimes may return scalars as 1-D, booleans as numbers, and float16 as float32.
    if want.ndim == 0 and have.size == 1:
        have = have.reshape(())
    if want.dtype == bool or (want.dtype == np.float16 and have.dtype == np.float32):
        have = have.astype(want.dtype)
    if have.shape != want.shape:
        return f"shape {list(have.shape)} for {list(want.shape)}"
    if have.dtype != want.dtype:
        return f"type {have.dtype} for {want.dtype}"
    if want.dtype.kind in "fc" and want.size:
        # Rounding differs between runtimes; the absolute tolerance is at least 1e-4 of the largest finite element.
        finite = np.abs(want[np.isfinite(want)])
        rtol, atol = max(rtol, 1e-3), max(atol, 1e-4 * float(finite.max(initial=0)))
    return None if np.allclose(have, want, rtol=rtol, atol=atol, equal_nan=True) else "values"


def _work(name, folder, cases, pipe):
    runtime = RUNTIMES[name]()
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    pipe.send(runtime.version)
    for case in cases:
        pipe.send(outcome(runtime, folder, case))


def main():
    name, folder = sys.argv[1], Path(sys.argv[2])
    cases = [json.loads(line) for line in sys.stdin]
    done = 0
    while done < len(cases):
        # Run the cases in a separate process: a crash of the runtime ends it, and a new process continues.
        mine, theirs = multiprocessing.get_context("fork").Pipe(duplex=False)
        worker = multiprocessing.get_context("fork").Process(target=_work, args=(name, folder, cases[done:], theirs))
        worker.start()
        theirs.close()
        version = mine.recv()
        while done < len(cases):
            try:
                said = mine.recv() if mine.poll(SECONDS) else "crashed: out of time"
            except EOFError:
                said = "crashed"
            print(json.dumps({"case": cases[done]["name"], "outcome": said, "version": version}), flush=True)
            done += 1
            if said.startswith("crashed"):
                worker.kill()
                break
        worker.join()


if __name__ == "__main__":
    main()
