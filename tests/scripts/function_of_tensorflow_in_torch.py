import torch
import torch.nn as nn


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        a, b = self.a(x), self.b(x)
        return torch.reduce_mean(torch.stack([a, b]), 0)


torch.onnx.export(Head().eval(), torch.randn(2, 4), "head.onnx", input_names=["x"], output_names=["y"], dynamo=False)
