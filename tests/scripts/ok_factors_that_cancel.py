import torch
from torch import nn


class Mean(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        n = float(x.shape[1])
        total = self.fc(x).sum(1) / n
        return total * n


torch.onnx.export(Mean().eval(), torch.randn(1, 8, 4), "n.onnx", input_names=["x"], dynamic_axes={"x": {1: "t"}}, dynamo=False)
