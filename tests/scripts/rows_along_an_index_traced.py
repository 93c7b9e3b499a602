import torch
from torch import nn


class Ranked(nn.Module):
    def forward(self, x):
        order = x.argsort(1)
        return torch.take_along_dim(x, order, 1)


torch.onnx.export(Ranked().eval(), (torch.randn(3, 5),), "ranked.onnx", input_names=["x"], dynamo=False)
