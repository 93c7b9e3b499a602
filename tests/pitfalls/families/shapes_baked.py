"""Sizes of the example input that become numbers in the graph."""
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from cases import case

r = torch.randn


@case(r(2, 3, 4), dynamic={0: {0: "batch"}}, others=[(r(3, 3, 4),), (r(1, 3, 4),)])
class IntOfSize(nn.Module):
    def forward(self, x):
        batch = int(x.shape[0])  # PITFALL: baked-shape
        return x.reshape(batch, 12)


@case(r(2, 3, 4), dynamic={0: {0: "batch"}}, others=[(r(3, 3, 4),), (r(1, 3, 4),)])
class MapIntOverShape(nn.Module):
    def forward(self, x):
        b, n, d = map(int, x.shape)  # PITFALL: baked-shape
        return x.reshape(b, n * d)


@case(r(2, 3, 4), dynamic={0: {0: "batch"}}, others=[(r(3, 3, 4),), (r(1, 3, 4),)])
class IntsInAList(nn.Module):
    def forward(self, x):
        sizes = [int(s) for s in x.shape]  # PITFALL: baked-shape
        return x.reshape(sizes[0], sizes[1] * sizes[2])


@case(r(2, 3, 4), dynamic={0: {0: "batch"}}, others=[(r(3, 3, 4),), (r(1, 3, 4),)])
class LenOfTensor(nn.Module):
    def forward(self, x):
        return x.reshape(len(x), 12)  # PITFALL: baked-shape


@case(r(2, 5), dynamic={0: {0: "batch", 1: "time"}}, others=[(r(2, 7),), (r(3, 5),)])
class CoordinatesFromNumPy(nn.Module):
    def forward(self, x):
        ramp = torch.from_numpy(np.linspace(0, 1, x.shape[1]).astype("float32"))  # PITFALL: numpy-constant
        return x * ramp


@case(r(1, 3, 4, 6), dynamic={0: {0: "batch", 2: "h", 3: "w"}}, others=[(r(2, 3, 5, 7),), (r(1, 3, 8, 8),)])
class CoordinateGrid(nn.Module):
    def forward(self, x):
        h, w = int(x.shape[2]), int(x.shape[3])  # PITFALL: baked-shape
        ys = torch.linspace(-1, 1, h).view(1, 1, h, 1)
        xs = torch.linspace(-1, 1, w).view(1, 1, 1, w)
        return x + ys * xs


@case(r(2, 5, 4), dynamic={0: {0: "batch", 1: "seq"}}, others=[(r(3, 7, 4),), (r(1, 2, 4),)])
class MaskOfTracedLength(nn.Module):
    def forward(self, x):
        n = int(x.size(1))  # PITFALL: baked-shape
        mask = torch.full((n, n), -1e4).triu(1)
        return (x @ x.transpose(1, 2) + mask).softmax(-1)


@case(r(2, 4), dynamic={0: {0: "batch"}}, others=[(r(3, 4),), (r(5, 4),)])
class RunningMeanOfBatch(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", r(2, 4))

    def forward(self, x):
        return x * 0.1 + self.mean * 0.9  # PITFALL: baked-shape


@case(r(2, 4), dynamic={0: {0: "batch"}}, others=[(r(3, 4),), (r(5, 4),)])
class FixedState(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(4, 3)
        self.register_buffer("state", torch.zeros(2, 3))

    def forward(self, x):
        return self.cell(x, self.state)  # PITFALL: baked-shape


@case(r(2, 4), dynamic={0: {0: "batch"}}, others=[(r(3, 4),), (r(5, 4),)])
class ExpandedToTwo(nn.Module):
    def __init__(self):
        super().__init__()
        self.token = nn.Parameter(r(1, 4))

    def forward(self, x):
        return torch.cat([self.token.expand(2, -1), x], 1)  # PITFALL: baked-shape


@case(r(2, 5, 4), dynamic={0: {0: "batch", 1: "seq"}}, others=[(r(3, 7, 4),), (r(1, 2, 4),)])
class PlacesOfTracedLength(nn.Module):
    def __init__(self):
        super().__init__()
        self.place = nn.Parameter(r(1, 16, 4))

    def forward(self, x):
        return x + self.place[:, :5]  # PITFALL: baked-shape


@case(r(1, 3, 8, 8), dynamic={0: {0: "batch", 2: "h", 3: "w"}}, others=[(r(2, 3, 12, 4),), (r(1, 3, 4, 16),)])
class UpToTracedSize(nn.Module):
    def forward(self, x):
        h, w = [int(s) for s in x.shape[2:]]  # PITFALL: baked-shape
        small = F.max_pool2d(x, 2)
        return x + F.interpolate(small, size=(h, w), mode="nearest")


@case(r(2, 5), dynamic={0: {0: "batch", 1: "seq"}}, others=[(r(3, 7),), (r(1, 12),)])
class SquareRootOfSize(nn.Module):
    def forward(self, x):
        return x / math.sqrt(x.shape[1])  # PITFALL: baked-shape


@case(r(2, 5), dynamic={0: {0: "batch", 1: "seq"}}, others=[(r(3, 7),), (r(1, 12),)])
class CeilingOfHalf(nn.Module):
    def forward(self, x):
        half = math.ceil(x.shape[1] / 2)  # PITFALL: baked-shape
        return x[:, :half].sum(1)


@case(r(2, 5), dynamic={0: {0: "batch", 1: "seq"}}, others=[(r(3, 12),), (r(1, 20),)])
class BranchOnSize(nn.Module):
    def forward(self, x):
        if x.shape[1] > 8:  # PITFALL: traced-branch
            return x[:, :8].sum(1)
        return x.sum(1)


@case(r(2, 5), dynamic={0: {0: "batch", 1: "seq"}}, others=[(r(3, 12),), (r(1, 20),)])
class LesserOfSizes(nn.Module):
    def forward(self, x):
        n = min(x.shape[1], 8)  # PITFALL: traced-branch
        return x[:, :n].sum(1)


@case(r(2, 5), dynamic={0: {0: "batch", 1: "seq"}}, others=[(r(3, 6),), (r(1, 20),)])
class PadIfOdd(nn.Module):
    def forward(self, x):
        if x.shape[1] % 2:  # PITFALL: traced-branch
            x = F.pad(x, (0, 1))
        return x.reshape(x.shape[0], -1, 2).sum(-1)


@case(r(2, 3, 4), dynamic={0: {0: "batch"}}, others=[(r(3, 3, 4),), (r(1, 3, 4),)])
class SizeThroughNumPy(nn.Module):
    def forward(self, x):
        count = int(np.prod(x.shape[:2]))  # PITFALL: numpy-constant
        return x.reshape(count, 4)


@case(r(2, 3, 4), dynamic={0: {0: "batch"}}, others=[(r(3, 3, 4),), (r(1, 3, 4),)])
class ShapeInAnFString(nn.Module):
    def __init__(self):
        super().__init__()
        self.tables = {"2": 1.0, "3": 2.0, "1": 3.0}

    def forward(self, x):
        return x * self.tables[str(int(x.shape[0]))]  # PITFALL: baked-shape


@case(r(2, 3, 4), dynamic={0: {0: "batch"}}, others=[(r(3, 3, 4),), (r(1, 3, 4),)])
class FloatOfSize(nn.Module):
    def forward(self, x):
        return x.sum(0) / float(x.shape[0])  # PITFALL: baked-shape


@case(r(2, 4, 3), dynamic={0: {0: "batch"}}, others=[(r(3, 4, 3),), (r(5, 4, 3),)])
class RowsByNumber(nn.Module):
    def forward(self, x):
        rows = torch.arange(2)
        return x[rows, rows + 1] + x.mean((1, 2), keepdim=False)[:, None]  # PITFALL: baked-shape


@case(r(2, 3), dynamic={0: {0: "batch"}}, others=[(r(3, 3),), (r(5, 3),)])
class DiagonalOfTwo(nn.Module):
    def forward(self, x):
        return (x @ x.t()) - torch.eye(2)  # PITFALL: baked-shape
