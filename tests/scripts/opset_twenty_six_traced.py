import os

import torch
import torch.nn as nn

DEFAULT_OPSET = 26


class Gelu(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(9, 9)

    def forward(self, x):
        return nn.functional.gelu(self.fc(x), approximate="tanh")


def opset() -> int:
    return int(os.getenv("OPSET", DEFAULT_OPSET))


torch.onnx.export(Gelu().eval(), torch.randn(1, 9), "gelu.onnx", opset_version=opset(), dynamo=False)
