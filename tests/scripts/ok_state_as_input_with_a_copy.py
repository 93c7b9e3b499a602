import torch
from torch import nn


class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.h = torch.zeros(1, 4)
    def step(self, x, h):
        return torch.tanh(self.fc(x) + h)
    def forward(self, x, h=None):
        if h is None:
            h = self.h
        h = self.step(x, h)
        self.h = h.detach()
        return h


m = M().eval()
torch.onnx.export(m, (torch.randn(1, 4), torch.zeros(1, 4)), "b.onnx", input_names=["x", "h"], dynamo=False)
