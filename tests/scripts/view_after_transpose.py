import torch
from torch import nn


class Head(nn.Module):
    def __init__(self, width=16, patches=6, horizon=4):
        super().__init__()
        self.embed = nn.Linear(8, width)
        self.proj = nn.Linear(width * patches, horizon)

    def forward(self, x):
        z = torch.relu(self.embed(x))
        z = z.transpose(1, 2)
        z = z.view(z.size(0), -1)
        return self.proj(z)


torch.onnx.export(Head().eval(), torch.randn(2, 6, 8), "head.onnx", dynamo=False)
