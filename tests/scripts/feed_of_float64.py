import numpy as np
import onnxruntime as ort
import torch
from torch import nn

torch.onnx.export(nn.Linear(4, 2).eval(), (torch.randn(1, 4),), "fc.onnx", input_names=["x"], dynamo=True)
session = ort.InferenceSession("fc.onnx")
x = np.random.rand(1, 4)
print(session.run(None, {session.get_inputs()[0].name: x}))
