import torch
from torch import nn


class Rotary(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.register_buffer("inv", 1.0 / (10000 ** (torch.arange(0, dim, 2).float() / dim)), persistent=False)
        self.cos = torch.zeros(1, 1)
        self.seen = 0
    def forward(self, x):
        n = x.shape[1]
        if n > self.seen:
            t = torch.arange(n, device=x.device).type_as(self.inv)
            f = torch.outer(t, self.inv)
            self.cos = torch.cat([f, f], -1).cos().to(x.dtype)
            self.seen = n
        return x * self.cos[:n]


torch.onnx.export(Rotary().eval(), torch.randn(1, 6, 8), "a.onnx", dynamo=False)
