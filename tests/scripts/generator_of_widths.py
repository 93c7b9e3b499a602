import torch
from torch import nn

head = nn.Linear(8, 4)


def widths(last):
    yield 8
    yield last


for width in widths(last=16):
    head(torch.randn(1, width))
