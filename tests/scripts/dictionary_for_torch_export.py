import torch
from torch import nn


class Pair(nn.Module):
    def forward(self, left, right):
        return (left * right).sum(-1)


batch = {name: torch.rand(4, 8) for name in ("left", "right")}
program = torch.export.export(Pair(), batch)
