"""Times several variants of one model, in a separate process that `latency.py` starts.

Reads one JSON object from standard input, `{"mode", "models": {name: path}, "feed": path of an .npz, "seconds"}`, and
prints `{"nanoseconds": {name: minimum CPU time}, "failures": {name: reason}}`. All variants run on one thread, in
turns, so that other load of the machine affects all of them. A turn is a series of inferences (or session creations)
of one variant. The result is the minimum, over all turns, of the mean CPU time of an inference. The memory layout of a
session changes times by a few percent, so variants with small files have several sessions.
"""

import json
import os
import sys
import time

import numpy as np

# Approximate duration of a turn, far above the resolution of the clock.
TURN_NANOSECONDS = 1_000_000
TURNS = (4, 600)

# A variant whose file has at most SMALL_BYTES has SESSIONS sessions; a variant with a larger file, and in the mode
# `session` each variant, has one session.
SESSIONS, SMALL_BYTES = 3, 30_000_000


def session(path: str, *, optimize: bool):
    """Creates an ONNX Runtime session on one thread."""
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    if not optimize:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def inference(path: str, feed: dict, *, optimize: bool):
    made = session(path, optimize=optimize)
    given = {port.name: feed[port.name] for port in made.get_inputs() if port.name in feed}
    return lambda: made.run(None, given)


def making(path: str, _):
    return lambda: session(path, optimize=True)


def openvino_inference(path: str, feed: dict):
    import openvino
    settings = {"INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": "f32"}
    compiled = openvino.Core().compile_model(path, "CPU", settings)
    request = compiled.create_infer_request()
    given = {port: feed[name] for port in compiled.inputs for name in port.get_names() if name in feed}
    return lambda: request.infer(given)


# For each mode: creates the function that is timed.
MODES = {
    "as it comes": lambda path, feed: inference(path, feed, optimize=True),
    "session": making,
    "off": lambda path, feed: inference(path, feed, optimize=False),
    "openvino": openvino_inference,
}


def nanoseconds(turn, times: int) -> float:
    """Returns the mean CPU time of `times` calls, in all threads of the process."""
    before = time.process_time_ns()
    for _ in range(times):
        turn()
    return (time.process_time_ns() - before) / times


def main() -> None:
    request = json.load(sys.stdin)
    with np.load(request["feed"]) as file:
        feed = dict(file)
    turns, failures = {}, {}
    for number in range(SESSIONS):
        for name, path in request["models"].items():
            if number and (name in failures or request["mode"] == "session" or os.path.getsize(path) > SMALL_BYTES):
                continue
            try:
                turn = MODES[request["mode"]](path, feed)
                turn()
                turns[name, number] = turn
            except Exception as error:  # noqa: BLE001 – runtimes raise arbitrary exceptions
                failures[name] = " ".join(str(error).split())[:200]
    once = {key: nanoseconds(turn, 1) for key, turn in turns.items()}
    times = {key: int(max(1, TURN_NANOSECONDS // max(1, took))) for key, took in once.items()}
    least = {name: min(took for (of, _), took in once.items() if of == name) for name, _ in turns}
    keys, end = list(turns), time.monotonic() + request["seconds"]
    for at in range(TURNS[1] if keys else 0):
        if at >= TURNS[0] and time.monotonic() > end:
            break
        # Rotate the order: the previous session affects the caches.
        for key in keys[at % len(keys):] + keys[:at % len(keys)]:
            least[key[0]] = min(least[key[0]], nanoseconds(turns[key], times[key]))
    print(json.dumps({"nanoseconds": least, "failures": failures}))


if __name__ == "__main__":
    main()
