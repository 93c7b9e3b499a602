import torch
import torch.nn as nn


class Skipper(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(10, 1)
        self.block = nn.Linear(10, 10)

    def forward(self, x):
        if torch.sigmoid(self.gate(x)).mean() > 0.5:
            return x + self.block(x)
        return x


torch.onnx.export(Skipper().eval(), (torch.randn(2, 10),), "skipper.onnx", dynamo=True,
                  dynamic_shapes=({0: torch.export.Dim("n", min=2)},))
