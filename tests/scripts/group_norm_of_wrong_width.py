import torch
import torch.nn as nn
from dataclasses import dataclass


@dataclass
class Options:
    width: int = 24
    groups: int = 4
    blocks: int = 2
    head: int = 32


class Block(nn.Module):
    def __init__(self, o):
        super().__init__()
        self.norm = nn.GroupNorm(o.groups, o.head)
        self.conv = nn.Conv1d(o.width, o.width, 3, padding=1)

    def forward(self, x):
        return x + self.conv(self.norm(x))


o = Options()
net = nn.Sequential(nn.Conv1d(2, o.width, 1), *[Block(o) for _ in range(o.blocks)]).eval()
x = torch.randn(2, 2, 30)
torch.onnx.export(net, x, "blocks.onnx", opset_version=16, input_names=["x"], output_names=["y"], dynamo=False)
