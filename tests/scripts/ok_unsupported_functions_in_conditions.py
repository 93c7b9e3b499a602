import torch
from torch import nn


class Ranked(nn.Module):
    def forward(self, x):
        if torch.isin(x.detach().round().long(), torch.tensor([100])).any():
            raise ValueError("100 is reserved")
        order = x.argsort(1)
        return x.gather(1, order)


torch.onnx.export(Ranked().eval(), (torch.randn(3, 5),), "ranked.onnx", input_names=["x"], dynamo=False)
