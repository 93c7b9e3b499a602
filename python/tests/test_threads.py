"""Tests that calls release the GIL, and that concurrent calls are independent."""

import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import onnx
import onnx_lint
import pytest


@pytest.fixture(scope="module")
def long() -> bytes:
    """Returns a model with 2,000 nodes, no two of which are equal."""
    nodes = [
        onnx.helper.make_node(op, [f"v{index}"], [f"v{index + 1}"])
        for index, op in enumerate(["Relu", "Sin", "Tanh", "Exp"] * 500)
    ]
    value = lambda name: onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["N", 4])
    graph = onnx.helper.make_graph(nodes, "long", [value("v0")], [value(f"v{len(nodes)}")])
    opset = onnx.helper.make_opsetid("", 17)
    return onnx.helper.make_model(graph, opset_imports=[opset], ir_version=8).SerializeToString()


@pytest.mark.parametrize("function", [onnx_lint.lint, onnx_lint.fix], ids=["lint", "fix"])
def test_call_releases_the_gil(function, long):
    """A second thread makes progress during a call.

    The switch interval of Python is longer than the test, so only the library can release the GIL. On a busy machine,
    the thread may not be scheduled during one call: the test makes up to 20 calls.
    """
    interval = sys.getswitchinterval()
    counted, calls, is_over = [], [], threading.Event()

    def count():
        while not is_over.is_set():
            counted.append(time.perf_counter())
            time.sleep(0.0005)

    def overlaps() -> bool:
        return any(start < moment < end for start, end in calls for moment in counted)

    counter = threading.Thread(target=count)
    sys.setswitchinterval(1000)
    try:
        counter.start()
        while len(calls) < 20 and not overlaps():
            start = time.perf_counter()
            function(long)
            calls.append((start, time.perf_counter()))
    finally:
        is_over.set()
        sys.setswitchinterval(interval)
        counter.join()
    assert overlaps(), f"no other thread made progress in {len(calls)} calls"


def test_concurrent_calls_have_the_results_of_sequential_ones(long, faulty, clumsy):
    alone = [onnx_lint.lint(faulty), onnx_lint.lint(clumsy, severity="hint"), onnx_lint.fix(long)]
    with ThreadPoolExecutor(6) as pool:
        calls = [
            (pool.submit(onnx_lint.lint, faulty), pool.submit(onnx_lint.lint, clumsy, severity="hint"),
             pool.submit(onnx_lint.fix, long))
            for _ in range(4)
        ]
        for together in calls:
            assert [call.result() for call in together] == alone
