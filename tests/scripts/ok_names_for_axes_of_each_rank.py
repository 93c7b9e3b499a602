import sys

import torch
from torch import nn


def split(x, three):
    if three:
        a, b, c = x.shape
    else:
        a, b, c, _ = (*x.shape, 1)
    return a, b, c


class Attention(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.mix = nn.Linear(width, width)

    def forward(self, x):
        if x.dim() == 4:
            b, c, h, w = x.shape
            x = x.view(b, c, h * w)
        b, *rest = x.shape
        b, c, n = split(x, x.dim() == 3)
        try:
            b, c, h, w = x.shape
        except ValueError:
            b, c, n = x.shape
        return self.mix(x).view(b, c, n)


torch.onnx.export(Attention().eval(), (torch.randn(2, 5, 16),), "attention.onnx", input_names=["x"], dynamo=False)
