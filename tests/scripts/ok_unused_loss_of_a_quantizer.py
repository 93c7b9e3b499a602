import torch
import torch.nn.functional as F
from torch import nn
class VQ(nn.Module):
    def __init__(self):
        super().__init__()
        self.book = nn.Embedding(16, 8)
    def forward(self, z):
        d = (z.pow(2).sum(1, keepdim=True) - 2 * z @ self.book.weight.t() + self.book.weight.pow(2).sum(1))
        i = d.argmin(1)
        q = self.book(i)
        commit = F.smooth_l1_loss(q.detach(), z)
        usage = torch.bincount(i, minlength=16)
        return q, i, commit
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.vq = VQ()
        self.dec = nn.Linear(8, 8)
    def forward(self, x):
        q, i, loss = self.vq(x)
        return self.dec(q)
torch.onnx.export(Net().eval(), (torch.randn(4, 8),), "m.onnx", dynamo=False)
