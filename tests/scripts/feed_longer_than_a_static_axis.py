import numpy as np
import onnxruntime as ort
import torch
from torch import nn

net = nn.Sequential(nn.Conv1d(1, 4, 5, 2), nn.ReLU())
net.eval()
torch.onnx.export(net, torch.randn(1, 1, 800), "wave.onnx", input_names=["wave"], output_names=["y"],
                  dynamic_axes={"wave": {0: "batch"}}, dynamo=False)

session = ort.InferenceSession("wave.onnx", providers=["CPUExecutionProvider"])
short = np.random.randn(3, 1, 800).astype(np.float32)
session.run(None, {"wave": short})
long = np.random.randn(1, 1, 1200).astype(np.float32)
y = session.run(None, {"wave": long})[0]
