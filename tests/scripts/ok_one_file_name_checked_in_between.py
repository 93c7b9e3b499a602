import argparse
import numpy as np
import onnxruntime as ort
import torch
from torch import nn


def export(path="m.onnx", dynamic=False):
    kwargs = {}
    if dynamic:
        kwargs["dynamic_axes"] = {"x": {0: "n"}}
    torch.onnx.export(nn.Linear(4, 2), torch.randn(1, 4), path, input_names=["x"], dynamo=False, **kwargs)
    return path


def check(path, batch):
    s = ort.InferenceSession(path)
    s.run(None, {s.get_inputs()[0].name: np.zeros((batch, 4), np.float32)})


check(export(), 1)
check(export(dynamic=True), 3)
check(export("./m.onnx", dynamic=False), 1)
check(export("m.onnx", dynamic=True), 2)
