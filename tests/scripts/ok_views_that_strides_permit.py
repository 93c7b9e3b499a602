import torch
from torch import nn


class Heads(nn.Module):
    def __init__(self, width=16, heads=4):
        super().__init__()
        self.heads = heads
        self.embed = nn.Linear(8, width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        b, t, _ = x.shape
        q = self.embed(x).view(b, t, self.heads, -1).transpose(1, 2)
        parts = q.view(b, self.heads, t, 2, -1).reshape(b, self.heads, t, -1)
        scores = parts @ parts.transpose(2, 3)
        y = (scores.softmax(-1) @ q).transpose(1, 2).contiguous().view(b, t, -1)
        one = y[:, :1].transpose(1, 2).view(b, -1)
        last = y.permute(1, 0, 2).reshape(-1, y.size(2)).view(t, b, -1)
        return self.out(y), one, last


torch.onnx.export(Heads().eval(), torch.randn(2, 5, 8), "heads.onnx", dynamo=False)
