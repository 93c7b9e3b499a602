"""Creates the TorchScript archives of this folder: python make.py OUT_DIR.

The arguments of each module are `in0`, `in1`, …; the first axis is the batch. The `.npz` files have inputs of another batch
size than the example inputs, and the outputs that PyTorch computes for them. The archives have no debug files.
"""
import os
import sys
import zipfile
from typing import Dict, List, Optional

import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)
out = sys.argv[1]
os.makedirs(out, exist_ok=True)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.norm.running_mean.normal_()
        self.norm.running_var.uniform_(0.5, 1.5)

    def forward(self, x):
        return nn.functional.relu(self.norm(self.conv(x)), inplace=True)


class Convolution(nn.Module):
    """Submodules, in-place operators, and a view to a size that the trace computes."""

    def __init__(self):
        super().__init__()
        self.blocks = nn.Sequential(Block(), nn.MaxPool2d(2))
        self.head = nn.Linear(64, 5)

    def forward(self, in0):
        x = self.blocks(in0)
        return self.head(x.view(x.shape[0], -1)).log_softmax(-1)


class Attention(nn.Module):
    """Sizes of a batch and a sequence, and constants."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(11, 8)
        self.project = nn.Linear(8, 24)

    def forward(self, in0):
        x = self.embed(in0)
        b, t, d = x.shape
        q, k, v = self.project(x).reshape(b, t, 3, 2, 4).permute(2, 0, 3, 1, 4).unbind(0)
        w = (q @ k.transpose(-1, -2)) * 0.5
        w = w.masked_fill(torch.triu(torch.ones(t, t, dtype=torch.bool), 1), float("-inf")).softmax(-1)
        return x + (w @ v).transpose(1, 2).reshape(b, t, d), w.argmax(-1)


class Flow(nn.Module):
    """Branches and loops: on constants, on an optional argument, and on data."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(2)])
        self.steps = 3
        self.scales: Dict[str, float] = {"first": 0.5}

    def forward(self, in0, in1, mask: Optional[torch.Tensor] = None):
        parts: List[torch.Tensor] = []
        x = in0
        for layer in self.layers:
            x = torch.relu(layer(x))
            parts.append(x)
        if mask is not None:
            x = x * mask
        for step in range(self.steps):
            x = x * self.scales["first"] + step
        if x.dim() == 2 and x.size(1) == 4:
            x = x + 1
        if x.sum() > 3:
            x = x.reshape(x.size(0), 2, 2).flip(2).flatten(1)
        rounds = 0
        while x.abs().max() > 0.25:
            x = x * 0.5
            rounds += 1
        for step in range(int(in1)):
            x = x + step
        return torch.stack(parts).sum(0), x, torch.tensor(rounds)


def flat(value):
    return [value] if isinstance(value, torch.Tensor) else [one for part in value for one in flat(part)]


def without_debug_files(path):
    with zipfile.ZipFile(path) as archive:
        kept = [(name, archive.read(name)) for name in archive.namelist() if not name.endswith(".debug_pkl")]
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in kept:
            archive.writestr(zipfile.ZipInfo(name), content)


images, ids, rows = (lambda n: torch.randn(n, 3, 8, 8)), (lambda n: torch.randint(0, 11, (n, 5))), (lambda n: torch.randn(n, 4))
CASES = {
    "convolution": (lambda net, given: torch.jit.trace(net, given), Convolution(), (images(2),), (images(3),)),
    "attention": (lambda net, given: torch.jit.trace(net, given), Attention(), (ids(2),), (ids(3),)),
    "flow": (lambda net, given: torch.jit.script(net), Flow(), (), (rows(3), torch.tensor(2))),
}
for name, (converted, net, example, given) in CASES.items():
    path = f"{out}/{name}.pt"
    converted(net.eval(), example).save(path)
    with torch.no_grad():
        got = flat(torch.jit.load(path)(*given))
    inputs = {f"in{index}": value.numpy() for index, value in enumerate(given)}
    np.savez(f"{out}/{name}.npz", **inputs, **{f"out{index}": value.numpy() for index, value in enumerate(got)})
    without_debug_files(path)
