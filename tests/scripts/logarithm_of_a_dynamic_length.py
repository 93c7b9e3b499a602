import math

import torch
from torch import nn


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        factor = math.log(x.size(1)) / math.sqrt(x.size(2))
        scores = self.fc(x) @ x.transpose(1, 2) * factor
        return scores.softmax(-1) @ x


torch.onnx.export(Scaled().eval(), torch.randn(1, 6, 4), "scaled.onnx", input_names=["x"], output_names=["y"],
                  dynamic_axes={"x": {1: "n"}, "y": {1: "n"}}, dynamo=False)
