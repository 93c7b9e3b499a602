import torch
from torch import nn


class Leaky(nn.Module):
    def __init__(self):
        super().__init__()
        self.read = nn.Linear(3, 3)

    def forward(self, steps):
        level = steps[:, 0]
        for t in range(steps.shape[1]):
            level = 0.8 * level + self.read(steps[:, t])
        return level


torch.onnx.export(Leaky().eval(), torch.rand(2, 7, 3), "leaky.onnx", input_names=["steps"],
                  dynamic_axes={"steps": {0: "n", 1: "length"}}, dynamo=False)
