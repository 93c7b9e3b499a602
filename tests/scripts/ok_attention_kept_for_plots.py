import torch
from torch import nn


class KV(nn.Module):
    def __init__(self):
        super().__init__()
        self.q = nn.Linear(4, 4)
        self.k = nn.Linear(4, 4)
        self.last_attention = torch.zeros(1)
        self.scale = nn.Parameter(torch.ones(1))
        self.bias_table = nn.Parameter(torch.zeros(8, 8))
    def forward(self, x):
        n = x.size(1)
        att = self.q(x) @ self.k(x).transpose(1, 2) * self.scale + self.bias_table[:n, :n]
        self.last_attention = att.softmax(-1)
        return self.last_attention @ x


torch.onnx.export(KV().eval(), torch.randn(1, 6, 4), "b.onnx", dynamo=False)
