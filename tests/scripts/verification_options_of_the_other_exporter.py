import torch
import torch.nn as nn


class Poly(nn.Module):
    def __init__(self, degree=3):
        super().__init__()
        self.c = nn.Parameter(torch.randn(degree + 1))

    def forward(self, x):
        return sum(c * x ** i for i, c in enumerate(self.c))


torch.onnx.export(Poly(), torch.rand(5), "poly.onnx", input_names=["x"], output_names=["y"],
                  dynamic_axes={"x": {0: "n"}, "y": {0: "n"}}, dynamo=False, verify=True, report=True)
