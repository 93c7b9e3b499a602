import argparse
from dataclasses import asdict, dataclass, field

import torch
from torch import nn


@dataclass
class Attention:
    embed_dim: int = 48
    num_heads: int = 7


@dataclass
class Config:
    attention: Attention = field(default_factory=Attention)
    depth: int = 2


config = Config()
options = asdict(config)
options["attention"]["num_heads"] = 6
options["attention"].update(batch_first=True)
first = nn.MultiheadAttention(**options["attention"])

parser = argparse.ArgumentParser()
parser.add_argument("--embed-dim", type=int, default=50)
parser.add_argument("--num-heads", type=int, default=8)
args = parser.parse_args()
vars(args)["embed_dim"] = 64
second = nn.MultiheadAttention(args.embed_dim, args.num_heads)
third = nn.MultiheadAttention(**vars(args))
args.num_heads = 4
values = {**vars(args), "num_heads": 2}
fourth = nn.MultiheadAttention(**values)
config.attention.num_heads = 12
fifth = nn.MultiheadAttention(**asdict(config)["attention"])
torch.onnx.export(nn.Linear(4, 4).eval(), torch.randn(1, 4), "fc.onnx", dynamo=False)
