"""Shapes that look like mistakes but are correct: chunks of a fixed length, views, tables, and dynamic sizes."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

from cases import case

r = torch.randn


@case(r(2, 16), dynamic={0: {0: "batch", 1: "time"}}, others=[(r(3, 32),), (r(1, 64),)])
class ChunksOf16(nn.Module):
    def forward(self, x):
        return x.reshape(-1, 16).mean(1)


@case(r(2, 32), dynamic={0: {0: "batch", 1: "time"}}, others=[(r(3, 48),), (r(1, 64),)])
class ChunksAsImages(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(1, 2, 3)

    def forward(self, x):
        return self.conv(x.reshape(-1, 1, 16))


@case(r(2, 16), dynamic={0: {0: "batch", 1: "time"}}, others=[(r(3, 32),), (r(1, 64),)])
class ChunksOfEachRow(nn.Module):
    def forward(self, x):
        return x.reshape(x.shape[0], -1, 16).amax(2)


@case(r(2, 5), dynamic={0: {0: "rows"}}, others=[(r(4, 5),), (r(8, 5),)])
class TwoViewsOfEach(nn.Module):
    def forward(self, x):
        a, b = x.reshape(2, -1, 5)
        return (a * b).sum(1)


@case(r(4, 5), dynamic={0: {0: "rows"}}, others=[(r(6, 5),), (r(8, 5),)])
class PairsOfRows(nn.Module):
    def forward(self, x):
        return x.view(-1, 2, 5).mean(1)


@case(r(4, 5), dynamic={0: {0: "rows"}}, others=[(r(8, 5),), (r(12, 5),)])
class FourShots(nn.Module):
    def forward(self, x):
        shots = x.reshape(4, -1, 5)
        return shots.mean(0)


@case(r(2, 2, 6), dynamic={0: {0: "batch", 1: "seq"}}, others=[(r(3, 5, 6),), (r(1, 7, 6),)])
class HeadsLikeBatch(nn.Module):
    def forward(self, x):
        b, s, d = x.shape
        q = x.view(b, s, 2, d // 2).transpose(1, 2)
        return (q @ q.transpose(2, 3)).softmax(-1)


@case(r(1, 3, 8, 8), dynamic={0: {0: "batch", 2: "h", 3: "w"}}, others=[(r(2, 3, 12, 4),), (r(1, 3, 4, 16),)])
class WindowsOfFour(nn.Module):
    def forward(self, x):
        b, c, h, w = x.shape
        x = x.view(b, c, h // 4, 4, w // 4, 4)
        return x.permute(0, 2, 4, 3, 5, 1).reshape(-1, 16, c)


@case(r(1, 4, 6, 6), dynamic={0: {0: "batch", 2: "h", 3: "w"}}, others=[(r(2, 4, 5, 7),), (r(3, 4, 2, 2),)])
class ShuffleChannels(nn.Module):
    def forward(self, x):
        b, c, h, w = x.shape
        return x.view(b, 2, c // 2, h, w).transpose(1, 2).reshape(b, c, h, w)


@case(r(2, 3, 4), dynamic={0: {0: "batch", 1: "time"}}, others=[(r(3, 5, 4),), (r(1, 2, 4),)])
class TimeIntoBatch(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 3)

    def forward(self, x):
        flat = self.linear(x.flatten(0, 1))
        return flat.unflatten(0, (x.shape[0], x.shape[1]))


@case(r(2, 6), dynamic={0: {0: "batch"}}, others=[(r(3, 6),), (r(1, 6),)])
class PointsOfThree(nn.Module):
    def forward(self, x):
        return x.reshape(-1, 2, 3).norm(dim=2)


@case(r(3, 6), dynamic={0: {0: "batch"}}, others=[(r(4, 6),), (r(1, 6),)])
class ThreeByTwo(nn.Module):
    def forward(self, x):
        return x.reshape(-1, 3, 2).sum(2)


@case(r(1, 3, 6, 6), dynamic={0: {0: "batch", 2: "h", 3: "w"}}, others=[(r(2, 3, 9, 5),)])
class ResizedToEight(nn.Module):
    def forward(self, x):
        return F.interpolate(x, size=(8, 8), mode="nearest")


@case(r(2, 5, 4), dynamic={0: {0: "batch", 1: "seq"}}, others=[(r(3, 7, 4),), (r(1, 2, 4),)])
class CausalMask(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mask", torch.ones(16, 16).tril())

    def forward(self, x):
        n = x.shape[1]
        scores = x @ x.transpose(1, 2)
        return scores.masked_fill(self.mask[:n, :n] == 0, -1e4).softmax(-1)


@case(r(2, 5, 4), dynamic={0: {0: "batch", 1: "seq"}}, others=[(r(3, 7, 4),), (r(1, 2, 4),)])
class ClassToken(nn.Module):
    def __init__(self):
        super().__init__()
        self.token = nn.Parameter(r(1, 1, 4))
        self.place = nn.Parameter(r(1, 17, 4))

    def forward(self, x):
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], 1)
        return x + self.place[:, :x.shape[1]]


@case(r(2, 5, 4), dynamic={0: {0: "batch", 1: "seq"}}, others=[(r(3, 7, 4),), (r(1, 2, 4),)])
class RelativeTable(nn.Module):
    """The size is increased in place, and both bounds of the table, -n and n, use the increased size."""

    def __init__(self):
        super().__init__()
        self.bias = nn.Embedding(64, 1)

    def forward(self, x):
        n = x.shape[1]
        n += 1
        table = torch.arange(-n, n, device=x.device)
        return self.bias(table + 32).squeeze(-1) * x.mean()


@case(r(2, 5, 4), dynamic={0: {0: "batch", 1: "seq"}}, others=[(r(3, 7, 4),), (r(1, 2, 4),)])
class SquareOfPadded(nn.Module):
    def forward(self, x):
        n = x.shape[1] + 2
        return x.new_ones(n + n, n * n).sum() + x


@case(r(2, 5), dynamic={0: {0: "batch", 1: "time"}}, others=[(r(3, 9),), (r(1, 12),)])
class PaddedToEven(nn.Module):
    def forward(self, x):
        return F.pad(x, (0, x.shape[1] % 2)).reshape(x.shape[0], -1, 2).sum(2)


@case(r(2, 3, 8), dynamic={0: {0: "batch", 1: "seq"}}, others=[(r(3, 5, 8),), (r(1, 9, 8),)])
class RotaryHalves(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("rates", 1.0 / 100 ** (torch.arange(0, 8, 2) / 8))

    def forward(self, x):
        angles = torch.arange(x.shape[1])[:, None] * self.rates
        a, b = x.chunk(2, dim=-1)
        return torch.cat([a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()], -1)


@case(r(2, 3, 4, 4), dynamic={0: {0: "batch"}}, others=[(r(3, 3, 4, 4),), (r(1, 3, 4, 4),)])
class GridOfFixedImage(nn.Module):
    def __init__(self):
        super().__init__()
        y, x = torch.meshgrid(torch.linspace(-1, 1, 4), torch.linspace(-1, 1, 4), indexing="ij")
        self.register_buffer("grid", torch.stack([x, y]))

    def forward(self, x):
        return torch.cat([x, self.grid.expand(x.shape[0], -1, -1, -1)], 1)


@case(r(2, 5), dynamic={0: {0: "batch", 1: "seq"}}, others=[(r(3, 7),), (r(1, 4),)])
class SizeAsTensor(nn.Module):
    def forward(self, x):
        n = torch.full((), x.shape[1], dtype=torch.float32)
        return x / n.sqrt()


@case(r(2, 5), dynamic={0: {0: "batch", 1: "seq"}}, others=[(r(3, 7),), (r(1, 4),)])
class HalfOfTheAxis(nn.Module):
    def forward(self, x):
        half = x.shape[1] // 2
        return x[:, :half] * x[:, half:2 * half]


@case(r(2, 8), dynamic={0: {0: "batch"}}, others=[(r(3, 8),), (r(1, 8),)])
class MathOfFixedSize(nn.Module):
    def forward(self, x):
        return x / math.sqrt(8) + x.reshape(-1, 2, 4).flatten(1)


@case(r(3, 4), r(5, 4), dynamic={0: {0: "rows"}, 1: {0: "cols"}}, others=[(r(2, 4), r(6, 4)), (r(4, 4), r(1, 4))])
class Distances(nn.Module):
    def forward(self, a, b):
        return (a[:, None] - b[None]).pow(2).sum(-1).reshape(a.shape[0], b.shape[0])


@case(r(2, 3, 5), dynamic={0: {0: "batch", 2: "time"}}, others=[(r(3, 3, 9),), (r(1, 3, 6),)])
class LastThree(nn.Module):
    def forward(self, x):
        return x[:, :, -3:].reshape(x.shape[0], 9)


@case(r(2, 4, 3), dynamic={0: {0: "batch"}}, others=[(r(3, 4, 3),), (r(5, 4, 3),)])
class TransposedAndFlat(nn.Module):
    def forward(self, x):
        return x.transpose(0, 1).reshape(4, -1).reshape(4, -1, 3).transpose(0, 1)


@case(r(6, 2, 3), dynamic={0: {0: "rows"}}, others=[(r(4, 2, 3),), (r(8, 2, 3),)])
class FramesOfTwo(nn.Module):
    def forward(self, x):
        n = x.shape[0] // 2
        return x.view(2, n, 2, 3).mean(0)


@case(r(2, 4, 8), dynamic={0: {0: "batch", 1: "tokens"}}, others=[(r(3, 9, 8),), (r(1, 16, 8),)])
class GroupedNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.GroupNorm(4, 8)

    def forward(self, x):
        return self.norm(x.transpose(1, 2)).transpose(1, 2)


@case(r(2, 6, 4), dynamic={0: {0: "batch", 1: "time"}}, others=[(r(3, 8, 4),), (r(2, 2, 4),)])
class StackedFrames(nn.Module):
    def forward(self, x):
        b, t, d = x.shape
        return x.reshape(b, t // 2, 2 * d).mean(1)


@case(r(1, 8, 3), dynamic={0: {0: "batch", 1: "n"}}, others=[(r(2, 16, 3),), (r(3, 4, 3),)])
class OneOfEverything(nn.Module):
    def forward(self, x):
        return x.reshape(1, -1, 3).amax(1)
