"""Times several forms of one model against each other, in a process of its own: `latency.py` starts it.

Reads one JSON object from its standard input, `{"mode", "models": {name: path}, "feed": path of an .npz, "seconds"}`, and
prints one: `{"nanoseconds": {name: least CPU time}, "failures": {name: why}}`. All run on one thread; forms take turns,
so that whatever else the machine does meets each of them, and of all turns the least counts. Where the memory of a session
happens to lie makes a difference of some percent, so that a form that is not large has several.
"""

import json
import os
import sys
import time

import numpy as np

# A turn takes at least this long, so that the clock's steps do not show.
TURN_NANOSECONDS = 1_000_000
TURNS = (4, 600)

# Sessions of a form whose file is no larger than this.
SESSIONS, SMALL_BYTES = 3, 30_000_000


def session(path: str, *, optimize: bool):
    """ONNX Runtime's session of a model, on one thread."""
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


# What one turn does, by what is timed.
MODES = {
    "as it comes": lambda path, feed: inference(path, feed, optimize=True),
    "session": making,
    "off": lambda path, feed: inference(path, feed, optimize=False),
    "openvino": openvino_inference,
}


def nanoseconds(turn, times: int) -> float:
    """CPU time of one call in a turn of several, by all threads of the process."""
    before = time.process_time_ns()
    for _ in range(times):
        turn()
    return (time.process_time_ns() - before) / times


def main() -> None:
    asked = json.load(sys.stdin)
    with np.load(asked["feed"]) as file:
        feed = dict(file)
    turns, failures = {}, {}
    for number in range(SESSIONS):
        for name, path in asked["models"].items():
            if number and (name in failures or asked["mode"] == "session" or os.path.getsize(path) > SMALL_BYTES):
                continue
            try:
                turn = MODES[asked["mode"]](path, feed)
                turn()
                turns[name, number] = turn
            except Exception as error:  # noqa: BLE001 – runtimes raise what they like
                failures[name] = " ".join(str(error).split())[:200]
    once = {key: nanoseconds(turn, 1) for key, turn in turns.items()}
    times = {key: int(max(1, TURN_NANOSECONDS // max(1, took))) for key, took in once.items()}
    least = {name: min(took for (of, _), took in once.items() if of == name) for name, _ in turns}
    keys, end = list(turns), time.monotonic() + asked["seconds"]
    for at in range(TURNS[1] if keys else 0):
        if at >= TURNS[0] and time.monotonic() > end:
            break
        # Each goes first in turn: what came before it has warmed or cooled the caches.
        for key in keys[at % len(keys):] + keys[:at % len(keys)]:
            least[key[0]] = min(least[key[0]], nanoseconds(turns[key], times[key]))
    print(json.dumps({"nanoseconds": least, "failures": failures}))


if __name__ == "__main__":
    main()
