import numpy as np
import onnxruntime as ort
import torch
from torch import nn


class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, a, b, c=None):
        return self.fc(a) + b


a, b = torch.randn(2, 3, 4), torch.randn(4)
torch.onnx.export(Pair().eval(), (a, b), "pair.onnx", input_names=["a", "b"], output_names=["y"],
                  dynamic_axes={"a": [0, 1], "y": [0, 1]}, dynamo=False)
session = ort.InferenceSession("pair.onnx", providers=["CPUExecutionProvider"])
for batch in (1, 5):
    x = np.zeros((batch, 7, 4), dtype=np.float32)
    session.run(["y"], {"a": x, "b": b.numpy()})
name = session.get_inputs()[0].name
session.run(None, {name: a.numpy(), "b": np.ones(4, np.float32)})

# Another export of the same file, with other sizes.
torch.onnx.export(Pair().eval(), (torch.randn(1, 9, 4), b), "pair.onnx", input_names=["x", "b"], dynamo=False)
session.run(None, {"a": a.numpy(), "b": b.numpy()})
session = ort.InferenceSession("pair.onnx")
session.run(None, {"x": np.zeros((1, 9, 4), np.float32), "b": b.numpy()})
