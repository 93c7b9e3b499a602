import random

import torch
import torch.nn as nn


class Encoder(nn.Module):
    def __init__(self, drop=0.1):
        super().__init__()
        self.drop = drop
        self.layers = nn.ModuleList(nn.Linear(8, 8) for _ in range(3))

    def forward(self, x):
        for layer in self.layers:
            skip = random.uniform(0, 1)
            if self.training and skip < self.drop:
                continue
            x = layer(x).relu()
        return x


model = Encoder().eval()
torch.onnx.export(model, (torch.randn(2, 8),), "encoder.onnx", dynamo=False, opset_version=17)
