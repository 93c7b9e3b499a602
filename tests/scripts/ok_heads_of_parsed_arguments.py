import argparse
from dataclasses import asdict, dataclass

import torch
from torch import nn


@dataclass
class Sizes:
    embed_dim: int = 48
    num_heads: int = 6


class Net(nn.Module):
    def __init__(self, width, heads, first, name=None):
        super().__init__()
        self.first = nn.MultiheadAttention(**first, batch_first=True)
        self.second = nn.MultiheadAttention(width, heads, batch_first=True)

    def forward(self, x):
        x, _ = self.first(x, x, x)
        return self.second(x, x, x)[0]


parser = argparse.ArgumentParser()
parser.add_argument("--width", type=int, default=48)
parser.add_argument("--heads", type=int, default=8)
args = parser.parse_args()
model = Net(**vars(args), first=asdict(Sizes())).eval()
torch.onnx.export(model, torch.randn(1, 5, 48), "net.onnx", dynamo=False)
