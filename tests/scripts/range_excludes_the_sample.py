import torch
from torch import nn
from torch.export import Dim, export

LIMITS = {"tokens": (16, 512), "batch": (2, 8)}


class PrefixLM(nn.Module):
    def __init__(self):
        super().__init__()
        self.e = nn.Embedding(33, 8)

    def forward(self, ids):
        return self.e(ids).cumsum(1)


named = {name: Dim(name, min=low, max=high) for name, (low, high) in LIMITS.items()}
ids = torch.zeros(2, 10, dtype=torch.long)
export(PrefixLM(), (ids,), dynamic_shapes={"ids": {0: named["batch"], 1: named["tokens"]}})
