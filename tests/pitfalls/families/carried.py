"""Tensors of a traced, constant size that are combined with dynamic tensors only in later operations."""
import torch
import torch.nn as nn

from cases import case

r = torch.randn


@case(r(1, 3, 4, 6), dynamic={0: {0: "batch", 2: "h", 3: "w"}}, others=[(r(2, 3, 5, 7),), (r(1, 3, 8, 8),)])
class ScaledGrid(nn.Module):
    def forward(self, x):
        h, w = int(x.shape[2]), int(x.shape[3])  # PITFALL: baked-shape
        grid = torch.linspace(0, 1, h)[:, None] + torch.linspace(0, 1, w)[None]
        return x + grid * x.mean()


@case(r(2, 5, 4), r(2, 1, 4), dynamic={0: {0: "batch", 1: "seq"}, 1: {0: "batch"}},
      others=[(r(3, 7, 4), r(3, 1, 4)), (r(1, 2, 4), r(1, 1, 4))])
class ExpandedByNumber(nn.Module):
    def forward(self, x, context):
        n = int(x.shape[1])  # PITFALL: baked-shape
        return x + context.expand(-1, n, -1)


@case(r(2, 5, 4), dynamic={0: {0: "batch", 1: "seq"}}, others=[(r(3, 7, 4),), (r(1, 2, 4),)])
class RepeatedByNumber(nn.Module):
    def forward(self, x):
        mean = x.mean(1, keepdim=True)
        return torch.cat([x, mean.repeat(1, int(x.shape[1]), 1)], -1)  # PITFALL: baked-shape


@case(r(2, 5, 4), dynamic={0: {0: "batch", 1: "seq"}}, others=[(r(3, 7, 4),), (r(1, 2, 4),)])
class PaddedContext(nn.Module):
    """The number of padding zeros is traced, but zeros do not change the sum."""

    def forward(self, x):
        pad = 8 - int(x.shape[1])
        return torch.nn.functional.pad(x, (0, 0, 0, pad)).sum(1)


@case(r(2, 6, 4), dynamic={0: {0: "batch", 1: "seq"}}, others=[(r(3, 8, 4),), (r(1, 2, 4),)])
class HalvedContext(nn.Module):
    def forward(self, x):
        half = int(x.shape[1] / 2)  # PITFALL: baked-shape
        return x[:, :half] * x[:, half:]


@case(r(2, 5, 4), dynamic={0: {0: "batch", 1: "seq"}}, others=[(r(3, 7, 4),), (r(1, 2, 4),)])
class PaddedBySize(nn.Module):
    """Correct: the sizes stay dynamic, and the slice does not depend on them."""

    def forward(self, x):
        padded = x.new_zeros(x.shape[0], x.shape[1] + 2, 4)
        padded[:, 1:-1] = x
        return padded


@case(r(2, 5, 4), r(2, 1, 4), dynamic={0: {0: "batch", 1: "seq"}, 1: {0: "batch"}},
      others=[(r(3, 7, 4), r(3, 1, 4)), (r(1, 2, 4), r(1, 1, 4))])
class ExpandedAsTensor(nn.Module):
    def forward(self, x, context):
        return x + context.expand_as(x) + context.expand(-1, x.shape[1], -1)


@case(r(2, 4, 4), dynamic={0: {0: "batch", 1: "seq"}}, others=[(r(3, 7, 4),), (r(1, 2, 4),)])
class GatedByWeights(nn.Module):
    """Weights have the size of the feature axis, which equals the traced sequence length by coincidence."""

    def __init__(self):
        super().__init__()
        self.gate = nn.Parameter(r(4))
        self.mix = nn.Parameter(r(4, 4))

    def forward(self, x):
        return x * self.gate + (x @ self.mix) * self.gate.sigmoid()


@case(r(3, 4, 3), dynamic={0: {0: "batch", 1: "n"}}, others=[(r(5, 7, 3),), (r(1, 2, 3),)])
class RotatedPoints(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("turn", torch.linalg.qr(r(3, 3))[0])

    def forward(self, x):
        return (x @ self.turn) * x.norm(dim=-1, keepdim=True) + self.turn.sum(0)


@case(r(2, 3, 8, 8), dynamic={0: {0: "batch"}}, others=[(r(3, 3, 8, 8),), (r(1, 3, 8, 8),)])
class GridScaledByInput(nn.Module):
    """Correct: height and width of the image are static, so a grid of that size fits every input."""

    def __init__(self):
        super().__init__()
        self.register_buffer("grid", r(8, 8))

    def forward(self, x):
        return x + self.grid * x.mean((1, 2, 3), keepdim=True)
