import torch
from torch import nn

net = nn.Linear(8, 4)
class Timer:
    def __enter__(self): self.n = 8; return self
    def __exit__(self, *exc): self.n = 9; return False
with Timer() as t:
    net(torch.randn(1, t.n))
class Sup:
    def __enter__(self): return self
    def __exit__(self, kind, e, tb): return kind is RuntimeError
with Sup(): net(torch.randn(1, 9))
net(torch.randn(1, 8))
