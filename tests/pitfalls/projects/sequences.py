"""Parts of sequence models: windows, positions, masks, and loops over time."""
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

import lib
from cases import case
from lib.masks import lengths_to_mask
from lib.shapes import longest

r = torch.randn
BT = {0: {0: "batch", 1: "time"}}


@case(r(2, 8, 6), dynamic=BT, others=[(r(3, 12, 6),), (r(1, 4, 6),)])
class BlockAttention(nn.Module):
    """Correct: attention inside of blocks of four positions; the number of blocks stays dynamic."""

    block = 4

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(6, 18)

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = self.qkv(x).reshape(b, -1, self.block, 3, d).unbind(3)
        scores = (q @ k.transpose(-1, -2) / math.sqrt(d)).softmax(-1)
        return (scores @ v).reshape(b, n, d)


@case(r(2, 8, 6), dynamic=BT, others=[(r(3, 12, 6),), (r(1, 4, 6),)])
class BlocksCounted(nn.Module):
    def forward(self, x):
        blocks = int(x.shape[1]) // 4  # PITFALL: baked-shape
        y = x.view(x.shape[0], blocks, 4, 6)
        return y.mean(2)


@case(r(2, 5, 4), dynamic=BT, others=[(r(3, 7, 4),), (r(1, 3, 4),)])
class OffsetsTable(nn.Module):
    """Correct: attention biases by the distance of two positions, from a table for -n to n."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(2 * 16 + 1, 1)

    def forward(self, x):
        n = x.size(1)
        places = torch.arange(-n + 1, n) + 16
        bias = self.table(places)[:, 0]
        index = torch.arange(n)[None, :] - torch.arange(n)[:, None] + n - 1
        return (x @ x.mT + bias[index]).softmax(-1)


@case(r(2, 4, 5, 3), dynamic={0: {0: "batch", 2: "time"}}, others=[(r(1, 4, 9, 3),), (r(2, 4, 2, 3),)])
class SlopesByHead(nn.Module):
    def __init__(self):
        super().__init__()
        heads = 4
        self.slopes = [2 ** (-8 * (i + 1) / heads) for i in range(heads)]

    def forward(self, q):
        n = q.shape[2]
        distance = torch.arange(n)[None, :] - torch.arange(n)[:, None]
        bias = torch.tensor(self.slopes).view(1, 4, 1, 1) * distance
        return q @ q.transpose(2, 3) + bias


@case(r(2, 5, 4), dynamic=BT, others=[(r(3, 9, 4),), (r(1, 2, 4),)])
class RotaryOfNumPy(nn.Module):
    def forward(self, x):
        angles = np.outer(np.arange(x.shape[1]), 1.0 / 10000 ** (np.arange(2) / 2))  # PITFALL: numpy-constant
        cos, sin = torch.tensor(np.cos(angles)).float(), torch.tensor(np.sin(angles)).float()
        a, b = x.chunk(2, -1)
        return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


@case(r(2, 5, 4), dynamic=BT, others=[(r(3, 9, 4),), (r(1, 2, 4),)])
class RotaryOfCache(nn.Module):
    def __init__(self):
        super().__init__()
        angles = np.outer(np.arange(32), 1.0 / 10000 ** (np.arange(2) / 2))
        self.register_buffer("cos", torch.tensor(np.cos(angles), dtype=torch.float32), persistent=False)
        self.register_buffer("sin", torch.tensor(np.sin(angles), dtype=torch.float32), persistent=False)

    def forward(self, x):
        cos, sin = self.cos[:x.shape[1]], self.sin[:x.shape[1]]
        a, b = x.chunk(2, -1)
        return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


@case(r(2, 5, 4), dynamic=BT, others=[(r(3, 9, 4),), (r(1, 2, 4),)])
class CausalOfTraced(nn.Module):
    def __init__(self):
        super().__init__()
        self.mask = None

    def forward(self, x):
        n = len(x[0])  # PITFALL: baked-shape
        keep = torch.tril(torch.ones(n, n)).bool()
        return (x @ x.mT).masked_fill(~keep, float("-inf")).softmax(-1) @ x


@case(r(2, 5, 4), dynamic=BT, others=[(r(3, 9, 4),), (r(1, 2, 4),)])
class CausalFromAPackage(nn.Module):
    def forward(self, x):
        keep = lib.causal(x.shape[1], x)
        return (x @ x.mT).masked_fill(~keep, float("-inf")).softmax(-1) @ x


@case(r(2, 5, 4), dynamic=BT, others=[(r(3, 9, 4),), (r(1, 2, 4),)])
class ShiftedByOne(nn.Module):
    def forward(self, x):
        start = x.new_zeros(x.shape[0], 1, x.shape[2])
        return x - torch.cat([start, x[:, :-1]], 1)


@case(r(2, 6, 4), dynamic=BT, others=[(r(3, 9, 4),), (r(1, 8, 4),)])
class PaddedIfNeeded(nn.Module):
    def forward(self, x):
        missing = (4 - x.shape[1] % 4) % 4
        if missing > 0:  # PITFALL: traced-branch
            x = F.pad(x, (0, 0, 0, missing))
        else:
            x = x.clone()
        return x.reshape(x.shape[0], -1, 4, 4).amax(2)


@case(r(2, 8, 4), dynamic=BT, others=[(r(3, 9, 4),), (r(1, 6, 4),)])
class FoundEvenWhenTraced(nn.Module):
    def forward(self, x):
        missing = (4 - x.shape[1] % 4) % 4
        if missing > 0:  # PITFALL: traced-branch
            x = F.pad(x, (0, 0, 0, missing))
        return x.reshape(x.shape[0], -1, 4, 4).amax(2)


@case(r(2, 6, 4), dynamic=BT, others=[(r(3, 9, 4),), (r(1, 8, 4),)])
class PaddedAnyhow(nn.Module):
    def forward(self, x):
        x = F.pad(x, (0, 0, 0, (4 - x.shape[1] % 4) % 4))
        return x.reshape(x.shape[0], -1, 4, 4).amax(2)


@case(r(3, 5, 4), torch.tensor([5, 2, 3]), dynamic={0: {0: "batch", 1: "time"}, 1: {0: "batch"}},
      others=[(r(3, 7, 4), torch.tensor([7, 1, 2])), (r(2, 4, 4), torch.tensor([4, 3]))])
class MeansOfSamples(nn.Module):
    def forward(self, x, lengths):
        means = []
        for i in range(len(lengths)):  # PITFALL: unrolled-loop
            means.append(x[i, :lengths[i]].mean(0).tanh())
        return torch.stack(means)


@case(r(3, 5, 4), torch.tensor([5, 2, 3]), dynamic={0: {0: "batch", 1: "time"}, 1: {0: "batch"}},
      others=[(r(3, 7, 4), torch.tensor([7, 1, 2])), (r(2, 4, 4), torch.tensor([4, 3]))])
class MeansByMask(nn.Module):
    def forward(self, x, lengths):
        mask = lengths_to_mask(lengths, x.shape[1]).unsqueeze(-1)
        return (x * mask).sum(1) / mask.sum(1).clamp(min=1)


@case(r(3, 5, 4), torch.tensor([4, 2, 3]), dynamic={0: {0: "batch", 1: "time"}, 1: {0: "batch"}},
      others=[(r(3, 7, 4), torch.tensor([7, 1, 2])), (r(2, 4, 4), torch.tensor([3, 2]))])
class LengthsFromAPackage(nn.Module):
    def forward(self, x, lengths):
        n = longest(lengths)  # CALLS: item-baked
        return x[:, :n].sum(1)


@case(r(2, 8, 4), dynamic=BT, others=[(r(2, 12, 4),), (r(3, 4, 4),)])
class FourthsOfTime(nn.Module):
    def forward(self, x):
        parts = x.chunk(4, dim=1)  # PITFALL: baked-shape
        return torch.cat([parts[3], parts[1], parts[2], parts[0]], 1)


@case(r(2, 5, 8), dynamic=BT, others=[(r(2, 9, 8),), (r(3, 4, 8),)])
class GatedFourths(nn.Module):
    def forward(self, x):
        i, f, g, o = x.chunk(4, dim=-1)
        return o.sigmoid() * (i.sigmoid() * g.tanh() + f.sigmoid())


@case(r(2, 5, 4), dynamic={0: {0: "batch"}}, others=[(r(4, 5, 4),), (r(3, 5, 4),)])
class GreedySteps(nn.Module):
    """Correct: decodes six steps, independent of the input."""

    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(4, 4)
        self.out = nn.Linear(4, 7)
        self.words = nn.Embedding(7, 4)

    def forward(self, x):
        h = x.mean(1)
        word = self.words.weight[0].expand(x.shape[0], -1)
        found = []
        for _ in range(6):
            h = self.cell(word, h)
            best = self.out(h).argmax(-1)
            word = self.words(best)
            found.append(best)
        return torch.stack(found, 1)


@case(r(2, 4) * 0.1, dynamic={0: {0: "batch"}}, others=[(r(3, 4) * 40,), (r(1, 4) * 9,)])
class EarlyExit(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(4))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x) + x
            if x.abs().amax() > 5:  # PITFALL: traced-branch
                break
        return x


@case(r(2, 6, 4), dynamic=BT, others=[(r(3, 9, 4),), (r(1, 4, 4),)])
class PlacesInPython(nn.Module):
    def forward(self, x):
        rows = [[math.sin(p / 100 ** (i / 4)) for i in range(4)] for p in range(x.size(1))]  # PITFALL: unrolled-loop, in no graph
        return x + torch.tensor(rows)


@case(r(2, 6, 4), dynamic=BT, others=[(r(3, 9, 4),), (r(1, 4, 4),)])
class PlacesInTorch(nn.Module):
    def forward(self, x):
        p = torch.arange(x.size(1), dtype=x.dtype)[:, None]
        return x + torch.sin(p / 100 ** (torch.arange(4, dtype=x.dtype) / 4))


@case(r(2, 9, 4), dynamic=BT, others=[(r(3, 12, 4),), (r(1, 6, 4),)])
class ThirdsOfTime(nn.Module):
    """Correct: stacks every three frames; the number of stacks stays dynamic."""

    def forward(self, x):
        b, t, d = x.size()
        return x.contiguous().view(b, t // 3, d * 3)


@case(r(2, 4, 6), dynamic={0: {0: "batch", 1: "time"}}, others=[(r(3, 7, 6),), (r(1, 2, 6),)])
class HeadsSplit(nn.Module):
    """Correct: the number of heads, 2, equals the traced batch size by coincidence."""

    def forward(self, x):
        b, t, _ = x.size()
        q = x.view(b, t, 2, 3).transpose(1, 2)
        y = (q @ q.transpose(-1, -2)).softmax(-1) @ q
        return y.transpose(1, 2).contiguous().view(b, -1, 2 * 3)


@case(r(4, 5), dynamic={0: {0: "batch"}}, others=[(r(6, 5),), (r(2, 5),)])
class TwoViews(nn.Module):
    """Correct: the batch has a first and a second view of each image, so it is reshaped to two halves."""

    def forward(self, z):
        a, b = z.view(2, -1, 5).unbind(0)
        return F.cosine_similarity(a, b, dim=-1)


@case(r(4, 6), dynamic={0: {0: "batch"}}, others=[(r(6, 6),), (r(2, 6),)])
class NearestOthers(nn.Module):
    def forward(self, z):
        z = F.normalize(z, dim=-1)
        n = z.shape[0]
        similar = z @ z.t()
        similar = similar.masked_fill(torch.eye(n, dtype=torch.bool), -1e4)
        return similar.argmax(-1)


@case(r(3, 6), dynamic={0: {0: "batch"}}, others=[(r(5, 6),), (r(2, 6),)])
class LabelsOfABatch(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("labels", torch.arange(3))

    def forward(self, z):
        scores = z @ z.t()
        return (scores * F.one_hot(self.labels, 3)).sum(1)  # PITFALL: baked-shape


@case(r(2, 3, 4), dynamic={0: {0: "batch"}}, others=[(r(3, 3, 4),), (r(1, 3, 4),)])
class BatchFromAPackage(nn.Module):
    def forward(self, x):
        b, rest = lib.batch_and_rest(x)
        return x.reshape(b, rest)


@case(r(2, 3, 4), dynamic={0: {0: "batch"}}, others=[(r(3, 3, 4),), (r(1, 3, 4),)])
class MergedByHelper(nn.Module):
    def forward(self, x):
        return lib.merged(x, 1, 2)


@case(r(2, 7, 3), dynamic=BT, others=[(r(3, 9, 3),), (r(1, 4, 3),)])
class EveryOther(nn.Module):
    def forward(self, x):
        even, odd = x[:, ::2], x[:, 1::2]
        n = odd.shape[1]
        return even[:, :n] * odd


@case(r(2, 7, 3), dynamic=BT, others=[(r(3, 9, 3),), (r(1, 4, 3),)])
class LastInsteadOfNegative(nn.Module):
    def forward(self, x):
        return x[:, x.shape[1] - 1] + x[:, -2]


@case(r(2, 7, 3), dynamic=BT, others=[(r(3, 9, 3),), (r(1, 4, 3),)])
class MiddleByInt(nn.Module):
    def forward(self, x):
        middle = int(x.size(1) / 2)  # PITFALL: baked-shape, in no graph
        return x[:, middle]


@case(r(2, 7, 3), dynamic=BT, others=[(r(3, 9, 3),), (r(1, 4, 3),)])
class MiddleByDivision(nn.Module):
    def forward(self, x):
        return x[:, x.size(1) // 2]


@case(r(2, 5, 4), dynamic=BT, others=[(r(3, 8, 4),), (r(1, 2, 4),)])
class ScriptedScan(nn.Module):
    def __init__(self):
        super().__init__()
        self.step = torch.jit.script(Decay())

    def forward(self, x):
        return self.step(x)


class Decay(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        state = torch.zeros_like(x[:, 0])
        rows = []
        for t in range(x.shape[1]):
            state = state * 0.9 + x[:, t]
            rows.append(state)
        return torch.stack(rows, 1)
