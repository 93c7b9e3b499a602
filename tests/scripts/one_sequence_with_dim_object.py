import torch
import torch.nn as nn
from torch.export import Dim


class Scorer(nn.Module):
    def __init__(self, vocab=40, dim=8):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.w = nn.Linear(dim, 1)

    def forward(self, tokens):
        return self.w(self.embed(tokens)).squeeze(-1).mean(1)


def dims(**limits):
    return {k: Dim(k, max=v) for k, v in limits.items()}


d = dims(batch=64, length=32)
tokens = torch.randint(0, 40, (1, 12))
exported = torch.export.export(Scorer().eval(), args=(tokens,), dynamic_shapes=[{0: d["batch"], 1: d["length"]}])
torch.onnx.export(exported, f="scorer.onnx")
