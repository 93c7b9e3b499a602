"""Measures node costs in ONNX Runtime, on one thread and without its optimizations.

The units are those of the cost model in `src/extract/cost/`: nanoseconds per node, and per 1,024 bytes, elements or
products.

Each operator runs on tensors of several sizes, and the profile of ONNX Runtime has the time of each node. The time at
the smallest size is the cost per node. The difference between the times at the largest and the smallest size, divided
by the difference of units, is the cost per unit.
"""

import json
import statistics
import tempfile
from pathlib import Path

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

NODES = 16
RUNS = 60
OPSET = 18
SIDES = (4, 32, 128, 512)


def node(op, **attributes):
    return lambda at: helper.make_node(op, ["x"], [f"y{at}"], **attributes)


def pair(op):
    return lambda at: helper.make_node(op, ["x", "w"], [f"y{at}"])


# For each cost: nodes to measure, and the number of units in a node whose inputs are side × side floats.
MEASURED = {
    "view (a node)": ([node("Identity"), lambda at: helper.make_node("Reshape", ["x", "s"], [f"y{at}"])], lambda side: 0),
    "traffic (1,024 bytes)": ([node("Transpose", perm=[1, 0]), pair("Add"), pair("Mul"), node("Relu")], lambda side: 8 * side**2),
    "computed (1,024 elements)": ([node(op) for op in ("Exp", "Erf", "Tanh", "Sigmoid", "Softmax", "ReduceMean")],
                                  lambda side: side**2),
    "summed (1,024 products)": ([pair("MatMul"), pair("Gemm")], lambda side: side**3),
}


def seconds(make, side) -> float:
    """Returns the seconds per node in the fastest of many runs."""
    graph = helper.make_graph(
        [make(at) for at in range(NODES)], "g",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, [side, side]) for name in ("x", "w")],
        [helper.make_tensor_value_info(f"y{at}", TensorProto.FLOAT, None) for at in range(NODES)],
        [helper.make_tensor("s", TensorProto.INT64, [1], [-1])] if "s" in make(0).input else [],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)
    with tempfile.TemporaryDirectory() as folder:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.log_severity_level = 3
        options.enable_profiling, options.profile_file_prefix = True, str(Path(folder) / "profile")
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        feed = {name: np.random.default_rng(0).random((side, side), np.float32) for name in ("x", "w")}
        feed = {name: value for name, value in feed.items() if name in {port.name for port in session.get_inputs()}}
        for _ in range(RUNS):
            session.run(None, feed)
        events = json.loads(Path(session.end_profiling()).read_text())
    runs = [event["dur"] for event in events if event.get("cat") == "Node" and event["name"].endswith("kernel_time")]
    # The profile has whole microseconds: the mean over all nodes of a run is more precise.
    totals = [sum(runs[at:at + NODES]) / NODES for at in range(0, len(runs), NODES)]
    return min(totals) * 1e-6


def main() -> None:
    print(f"ONNX Runtime {onnxruntime.__version__}; nanoseconds")
    print(f"{'':28}{'per node':>10}{'per unit':>12}")
    for name, (makers, amount) in MEASURED.items():
        fixed, slopes = [], []
        for make in makers:
            took = {side: seconds(make, side) * 1e9 for side in SIDES}
            least, most = SIDES[0], SIDES[-1]
            fixed.append(took[least])
            if amount(most):
                slopes.append((took[most] - took[least]) / (amount(most) - amount(least)) * 1024)
        slope = f"{statistics.median(slopes):12.0f}" if slopes else f"{'–':>12}"
        print(f"{name:28}{statistics.median(fixed):10.0f}{slope}")


if __name__ == "__main__":
    main()
