import math

import torch
from torch import nn


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        b, n, width = x.shape
        factor = math.log(max(int(self.fc.in_features), 2)) / math.sqrt(width)
        return self.fc(x) * factor


torch.onnx.export(Scaled().eval(), torch.randn(1, 6, 4), "scaled.onnx", input_names=["x"], output_names=["y"],
                  dynamic_axes={"x": {0: "b", 1: "n"}, "y": {0: "b", 1: "n"}}, dynamo=False)
