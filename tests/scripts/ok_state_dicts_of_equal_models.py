import torch, os
from torch import nn


class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.a = nn.Linear(n, n)
        self.b = nn.Linear(n, n) if n > 4 else None
        self.emb = nn.Embedding(n, 3)
    def grow(self, n):
        new = nn.Embedding(n, 3)
        new.weight.data[: self.emb.num_embeddings] = self.emb.weight.data
        self.emb = new
    def forward(self, x):
        x = self.a(x)
        return self.b(x) if self.b is not None else x


m = Net(8); m.grow(20)
torch.save(m.state_dict(), "m.pt")
n = Net(8); n.grow(20)
n.load_state_dict(torch.load("m.pt"))
p = Net(4)
q = Net(4)
q.load_state_dict(p.state_dict())
r = nn.Sequential(nn.Conv2d(3, 4, 1, bias=False), nn.BatchNorm2d(4, affine=False), nn.PReLU(), nn.LSTM(4, 4, num_layers=2, bidirectional=True))
s = nn.Sequential(nn.Conv2d(3, 4, 1, bias=False), nn.BatchNorm2d(4, affine=False), nn.PReLU(), nn.LSTM(4, 4, num_layers=2, bidirectional=True))
s.load_state_dict(r.state_dict())
t = nn.ModuleDict({"x": nn.Linear(2, 2), "y": nn.MultiheadAttention(4, 2)})
u = nn.ModuleDict({"x": nn.Linear(2, 2), "y": nn.MultiheadAttention(4, 2)})
u.load_state_dict(t.state_dict())
u["x"].load_state_dict(t["x"].state_dict())
torch.onnx.export(n.eval(), torch.randn(1, 8), "a.onnx", dynamo=False)
