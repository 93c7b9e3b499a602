import torch
import torch.nn as nn


def cube(t):
    return t * t * t


class WithFunction(nn.Module):
    def __init__(self):
        super(WithFunction, self).__init__()
        self.proj = nn.Linear(40, 20)

    def forward(self, t):
        t = self.proj(t)
        t = cube(t)
        return t


net = WithFunction()
t = torch.randn(1, 40)
try:
    torch.onnx.export(net, t, "cube.onnx", verbose=True, opset_version=13)
except Exception as error:
    print(f"not converted: {error}")
