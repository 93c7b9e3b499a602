import torch
from torch import nn


def grid_for(x, old):
    if old.shape[-2:] == x.shape[-2:]:
        return old
    h, w = x.shape[-2:]
    ys, xs = torch.meshgrid(torch.arange(h), torch.arange(w), indexing="ij")
    return torch.stack([xs, ys])[None].float()


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 2, 1)
        self.grid = torch.zeros(1, 2, 1, 1)

    def forward(self, x):
        self.grid = grid_for(x, self.grid)
        return self.conv(x).sigmoid() + self.grid


torch.onnx.export(Head().eval(), torch.randn(1, 3, 6, 5), "head.onnx", dynamo=False)
