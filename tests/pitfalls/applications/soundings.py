"""Parts of models for audio, time series and point sets."""
import functools
import math
import operator

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from cases import case


r = torch.randn
BT = {0: {0: "batch", 1: "time"}}
B = {0: {0: "batch"}}
N = {0: {0: "n"}}


@case(r(2, 20), dynamic=BT, others=[(r(1, 33),), (r(3, 16),)])
class FramedByUnfold(nn.Module):
    """Correct: frames of 8 samples with a hop of 4; the cosine table is a float32 buffer."""

    def __init__(self):
        super().__init__()
        n = np.arange(8)
        table = np.cos(np.pi / 8 * (n + 0.5)[None] * n[:4, None])
        self.register_buffer("table", torch.tensor(table, dtype=torch.float32))
        self.register_buffer("window", torch.hann_window(8))

    def forward(self, x):
        frames = x.unfold(1, 8, 4) * self.window
        return (frames @ self.table.T).abs().clamp(min=1e-5).log()


@case(r(2, 20), dynamic=BT, others=[(r(1, 33),), (r(3, 16),)])
class FramedInDouble(nn.Module):
    def __init__(self):
        super().__init__()
        n = np.arange(8)
        self.register_buffer("table", torch.tensor(np.cos(np.pi / 8 * (n + 0.5)[None] * n[:4, None])))

    def forward(self, x):
        frames = x.unfold(1, 8, 4).double()
        return (frames @ self.table.T).float()


@case(r(2, 20), dynamic=BT, others=[(r(1, 33),), (r(3, 16),)])
class WidenedByTable(nn.Module):
    def __init__(self):
        super().__init__()
        self.rates = nn.Parameter(torch.tensor(np.geomspace(1, 8, 4)), requires_grad=False)

    def forward(self, x):
        return torch.cos(x[..., None] * self.rates).sum(-1).float()  # PITFALL: float64-promotion


@case(r(2, 20), dynamic=BT, others=[(r(1, 33),), (r(3, 16),)])
class FramedByLoop(nn.Module):
    def forward(self, x):
        starts = range(0, x.size(1) - 7, 4)
        return torch.stack([x[:, s:s + 8].norm(dim=1) for s in starts], 1)  # PITFALL: unrolled-loop


@case(r(2, 20), dynamic=BT, others=[(r(1, 33),), (r(3, 16),)])
class PaddedToFrames(nn.Module):
    def forward(self, x):
        count = -(-x.shape[1] // 8)
        x = F.pad(x, (0, count * 8 - x.shape[1]))
        return x.view(x.shape[0], count, 8).amax(-1)


@case(r(2, 20), dynamic=BT, others=[(r(1, 33),), (r(3, 16),)])
class PaddedByCeiling(nn.Module):
    def forward(self, x):
        count = math.ceil(x.shape[1] / 8)  # PITFALL: baked-shape, in no graph
        x = F.pad(x, (0, count * 8 - x.shape[1]))
        return x.view(x.shape[0], -1, 8).amax(-1)


@case(r(2, 20), dynamic=BT, others=[(r(1, 33),), (r(3, 16),)])
class Divided(nn.Module):
    """Correct: drops the samples after the last whole block of 8; the sizes stay dynamic."""

    def forward(self, x):
        count, _ = divmod(x.shape[1], 8)
        return x[:, :count * 8].reshape(x.shape[0], count, 8).mean(-1)


@case(r(2, 3, 20), dynamic={0: {0: "batch", 2: "time"}}, others=[(r(1, 3, 33),), (r(3, 3, 16),)])
class TrimmedOverlap(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.ConvTranspose1d(3, 2, 4, 2)

    def forward(self, x):
        y = self.up(x)
        extra = y.shape[-1] - 2 * x.shape[-1]
        left = extra // 2
        return y[..., left:y.shape[-1] - (extra - left)]


@case(r(2, 3, 20), dynamic={0: {0: "batch", 2: "time"}}, others=[(r(1, 3, 33),), (r(3, 3, 16),)])
class ResampledByRatio(nn.Module):
    def forward(self, x):
        return F.interpolate(x, scale_factor=1.5, mode="linear", align_corners=False, recompute_scale_factor=False)


@case(r(2, 3, 20), dynamic={0: {0: "batch", 2: "time"}}, others=[(r(1, 3, 33),), (r(3, 3, 16),)])
class ResampledToNumber(nn.Module):
    def forward(self, x):
        length = int(x.size(-1) * 1.5)  # PITFALL: baked-shape, in no graph
        return F.interpolate(x, size=length, mode="linear", align_corners=False)


@case(r(2, 12, 3), dynamic=BT, others=[(r(2, 16, 3),), (r(3, 5, 3),)])
class StateOfZeros(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(3, 4, num_layers=2, batch_first=True)

    def forward(self, x):
        start = torch.zeros(2, x.size(0), 4, device=x.device)
        y, last = self.rnn(x, start)
        return y[:, -1], last.transpose(0, 1)


@case(r(2, 12, 3), dynamic=BT, others=[(r(3, 16, 3),), (r(1, 5, 3),)])
class StateOfTwo(nn.Module):
    """The initial state is created with the model, for a batch of 2."""

    def __init__(self, batch=2):
        super().__init__()
        self.rnn = nn.GRU(3, 4, batch_first=True)
        self.state = torch.zeros(1, batch, 4)

    def forward(self, x):
        return self.rnn(x, self.state)[0]  # PITFALL: baked-shape


@case(r(4, 6), dynamic={0: {0: "time"}}, others=[(r(7, 6),), (r(2, 6),)])
class SmoothedOverTime(nn.Module):
    def forward(self, x):
        level = x[0]
        rows = [level]
        for row in x[1:]:  # PITFALL: unrolled-loop
            level = 0.7 * level + 0.3 * row
            rows.append(level)
        return torch.stack(rows)


@case(r(4, 6), dynamic={0: {0: "time"}}, others=[(r(7, 6),), (r(2, 6),)])
class SmoothedByWeights(nn.Module):
    def forward(self, x):
        t = torch.arange(x.shape[0], dtype=x.dtype)
        gap = t[:, None] - t[None]
        weights = torch.where(gap >= 0, 0.3 * 0.7 ** gap.clamp(min=0), torch.zeros_like(gap))
        return weights @ x


@case(r(5, 3), dynamic=N, others=[(r(8, 3),), (r(4, 3),)])
class NearestThree(nn.Module):
    def forward(self, points):
        far = torch.cdist(points, points)
        near = far.topk(3, largest=False).indices
        return points[near].mean(1) - points


@case(r(5, 3), dynamic=N, others=[(r(8, 3),), (r(4, 3),)])
class NearestThird(nn.Module):
    def forward(self, points):
        k = max(1, len(points) // 2)  # PITFALL: traced-branch
        far = (points[:, None] - points[None]).norm(dim=-1)
        return far.topk(k, largest=False).values.mean(1)


@case(r(5, 3), dynamic=N, others=[(r(8, 3),), (r(4, 3),)])
class FarthestPoints(nn.Module):
    """Correct: chooses three points, each the farthest from the previous ones, in a fixed number of steps."""

    def forward(self, points):
        chosen = [points.norm(dim=1).argmax()]
        far = (points - points[chosen[0]]).norm(dim=1)
        for _ in range(2):
            chosen.append(far.argmax())
            far = torch.minimum(far, (points - points[chosen[-1]]).norm(dim=1))
        return points[torch.stack(chosen)]


@case(r(5, 3), dynamic=N, others=[(torch.eye(3) * 9,), (torch.eye(3).flip(0) * 9,)])
class FarthestByNumber(nn.Module):
    def forward(self, points):
        first = operator.index(points.norm(dim=1).argmax())  # PITFALL: item-baked
        return (points - points[first]).norm(dim=1)


@case(r(5, 3), dynamic=N, others=[(r(8, 3),), (r(4, 3),)])
class VoxelsCounted(nn.Module):
    """Sums points for each cell; the number of cells is fixed, but cells are updated repeatedly."""

    def __init__(self):
        super().__init__()
        self.cells = 4

    def forward(self, points):
        cell = ((points[:, 0] + 2).clamp(0, 3.99)).long()
        counts = torch.zeros(self.cells).index_add(0, cell, torch.ones_like(points[:, 0]))  # PITFALL: lost-duplicates, in no source
        sums = torch.zeros(self.cells, 3).index_add(0, cell, points)  # PITFALL: lost-duplicates, in no source
        return sums / counts.clamp(min=1)[:, None]


@case(r(5, 3), torch.tensor([0, 1, 2, 1, 0]), dynamic={0: {0: "n"}, 1: {0: "n"}},
      others=[(r(7, 3), torch.tensor([0, 1, 2, 3, 4, 4, 4])), (r(3, 3), torch.tensor([0, 0, 1]))])
class SumsOfGroups(nn.Module):
    def forward(self, x, group):
        count = int(group.max()) + 1  # PITFALL: item-baked
        return torch.zeros(count, 3).index_add(0, group, x)  # PITFALL: lost-duplicates, in no source


@case(r(5, 3), torch.tensor([[0, 1, 2], [1, 2, 4]]), dynamic={0: {0: "nodes"}, 1: {1: "edges"}},
      others=[(r(7, 3), torch.tensor([[0, 1, 2, 6], [6, 2, 4, 5]])), (r(3, 3), torch.tensor([[2, 1], [0, 0]]))])
class MessagesPassed(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(6, 3)

    def forward(self, x, edges):
        start, end = edges
        message = self.linear(torch.cat([x[start], x[end]], 1)).relu()
        return torch.zeros_like(x).index_add(0, end, message) + x  # PITFALL: lost-duplicates, in no source


@case(r(5, 3), torch.tensor([[0, 1, 2], [1, 2, 4]]), dynamic={0: {0: "nodes"}, 1: {1: "edges"}},
      others=[(r(7, 3), torch.tensor([[0, 1, 2, 6], [6, 2, 4, 5]])), (r(3, 3), torch.tensor([[2, 1], [0, 0]]))])
class AdjacencyOfTraced(nn.Module):
    def forward(self, x, edges):
        n = x.size()[0].__index__()  # PITFALL: baked-shape
        table = torch.zeros(n, n).index_put((edges[0], edges[1]), torch.ones(edges.shape[1]))
        return table @ x


@case(r(5, 3), torch.tensor([[0, 1, 2], [1, 2, 4]]), dynamic={0: {0: "nodes"}, 1: {1: "edges"}},
      others=[(r(7, 3), torch.tensor([[0, 1, 2, 6], [6, 2, 4, 5]])), (r(3, 3), torch.tensor([[2, 1], [0, 0]]))])
class AdjacencyRight(nn.Module):
    def forward(self, x, edges):
        n = x.size(0)
        place = edges[0] * n + edges[1]
        table = x.new_zeros(n * n).scatter(0, place, torch.ones_like(place, dtype=x.dtype))
        return table.view(n, n) @ x


@case(r(4, 3), dynamic=N, others=[(r(6, 3),), (r(2, 3),)])
class PairsOfPoints(nn.Module):
    """Distances of all pairs of points; NumPy computes the pairs for the traced number of points."""

    def forward(self, x):
        i, j = np.triu_indices(x.shape[0], 1)  # PITFALL: numpy-constant
        return (x[i] - x[j]).norm(dim=-1)


@case(r(4, 3), dynamic=N, others=[(r(6, 3),), (r(2, 3),)])
class PairsByMask(nn.Module):
    def forward(self, x):
        n = x.shape[0]
        above = torch.ones(n, n).triu(1) > 0
        far = (x[:, None] - x[None]).pow(2).sum(-1)
        return (far * above).sum()


@case(r(3, 4).abs(), dynamic=B, others=[(r(5, 4).abs() * 30,), (r(2, 4).abs() / 100,)])
class NormalisedUntil(nn.Module):
    """Halves all elements until all are below 1: a loop that depends on data."""

    def forward(self, x):
        steps = 0
        while not (x < 1).all() and steps < 8:  # PITFALL: traced-branch
            x, steps = x / 2, steps + 1
        return x


@case(r(3, 4).abs(), dynamic=B, others=[(r(5, 4).abs() * 30,), (r(2, 4).abs() / 100,)])
class SinkhornSteps(nn.Module):
    def __init__(self, steps=4):
        super().__init__()
        self.steps = steps

    def forward(self, x):
        y = x.exp()
        for _ in range(self.steps):
            y = y / y.sum(0, keepdim=True)
            y = y / y.sum(1, keepdim=True)
        return y


@case(r(3, 4), dynamic=B, others=[(r(5, 4) * 30,), (r(2, 4) / 100,)])
class ClippedByPercentile(nn.Module):
    def forward(self, x):
        limit = np.percentile(x.numpy(), 90)  # PITFALL: numpy-constant
        return x.clamp(max=float(limit))


@case(r(3, 4), dynamic=B, others=[(r(5, 4) * 30,), (r(2, 4) / 100,)])
class ClippedByTop(nn.Module):
    def forward(self, x):
        limit = x.topk(2, dim=1).values[:, 1:]
        return torch.minimum(x, limit)


@case(r(3, 4), dynamic=B, others=[(r(5, 4) * 30,), (r(2, 4) / 100,)])
class GradientOff(nn.Module):
    """Correct: `detach` and `no_grad` do not change the exported computation."""

    @torch.no_grad()
    def scale(self, x):
        return x.detach().abs().amax(1, keepdim=True).clamp(min=1e-3)

    def forward(self, x):
        with torch.no_grad():
            shift = x.mean(1, keepdim=True)
        return (x - shift) / self.scale(x)


@case(r(3, 4), dynamic=B, others=[(r(5, 4) * 30,), (r(2, 4) / 100,)])
class Reduced(nn.Module):
    """Correct: `reduce` and `sum` run over the outputs of a fixed number of layers."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(3))

    def forward(self, x):
        gates = [layer(x).sigmoid() for layer in self.layers]
        return functools.reduce(operator.mul, gates) + sum(gates) / len(gates)


@case(r(3, 4), dynamic=B, others=[(r(5, 4) * 30,), (r(2, 4) / 100,)])
class ReducedOverSamples(nn.Module):
    def forward(self, x):
        return functools.reduce(torch.maximum, x.unbind(0))  # PITFALL: unrolled-loop


@case(r(3, 4), r(3, 4), dynamic={0: {0: "batch"}, 1: {0: "batch"}}, others=[(r(5, 4), r(5, 4)), (torch.ones(2, 4), torch.ones(2, 4))])
class IfEqual(nn.Module):
    def forward(self, a, b):
        if torch.equal(a, b):  # PITFALL: traced-branch
            return a
        return torch.maximum(a, b) * 2


@case(r(3, 4), r(3, 4), dynamic={0: {0: "batch"}, 1: {0: "batch"}},
      others=[(r(5, 4), r(5, 4)), (r(2, 4), torch.zeros(2, 4))])
class IfNonZero(nn.Module):
    def forward(self, a, b):
        norm = b.norm()
        return a if norm == 0 else a / norm  # PITFALL: traced-branch


@case(r(3, 4), r(3, 4), dynamic={0: {0: "batch"}, 1: {0: "batch"}},
      others=[(r(5, 4), r(5, 4)), (r(2, 4), torch.zeros(2, 4))])
class WhereNonZero(nn.Module):
    def forward(self, a, b):
        norm = b.norm(dim=1, keepdim=True)
        return torch.where(norm == 0, a, a / norm.clamp(min=1e-6))


@case(r(3, 4), dynamic=B, others=[(r(5, 4),), (r(2, 4),)])
class FirstThree(nn.Module):
    """Writes rows in a loop over the traced batch of three."""

    def forward(self, x):
        y = x.new_zeros(x.shape)
        for i, row in enumerate(x):  # PITFALL: unrolled-loop
            y[i] = row.cumsum(0)
        return y


@case(r(3, 4), dynamic=B, others=[(r(5, 4),), (r(2, 4),)])
class ColumnsWritten(nn.Module):
    """Correct: the number of columns is static, so a loop over four columns fits every input."""

    def forward(self, x):
        y = torch.zeros_like(x)
        for i in range(4):
            y[:, i] = x[:, :i + 1].sum(1)
        return y


@case(r(3, 4), dynamic=B, others=[(r(5, 4),), (r(2, 4),)])
class RowThroughSelect(nn.Module):
    def forward(self, x):
        y = x.clone()
        y.select(1, 2).copy_(x[:, 0])
        return y
