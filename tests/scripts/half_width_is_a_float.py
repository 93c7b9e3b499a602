import torch
from torch import nn


class Gate(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner = nn.Linear(width, width / 2)
        self.outer = nn.Linear(width // 2, width)

    def forward(self, x):
        return self.outer(self.inner(x).relu())


torch.onnx.export(Gate(12).eval(), torch.randn(1, 12), "gate.onnx", dynamo=False)
