from pathlib import Path
import numpy as np
import onnxruntime as ort
import torch
from torch import nn

net = nn.Linear(4, 2)
torch.onnx.export(net, torch.randn(1, 4), "m.onnx", input_names=["x"], dynamo=False)
session = ort.InferenceSession("m.onnx")
session.run(None, {"x": np.zeros((1, 4), np.float32)})
torch.onnx.export(net, torch.randn(1, 4), "tmp.onnx", input_names=["x"], dynamic_axes={"x": {0: "n"}}, dynamo=False)
Path("tmp.onnx").rename("m.onnx")
session = ort.InferenceSession("m.onnx")
session.run(None, {"x": np.zeros((3, 4), np.float32)})
