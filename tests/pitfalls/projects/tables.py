"""Labels, counts and statistics that are computed from data, some as Python numbers."""
import functools
import math


import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

import lib
from cases import case
from lib.build import build

r = torch.randn
B = {0: {0: "batch"}}


@case(r(2, 6), (r(2, 6) > 0), dynamic={0: {0: "batch"}, 1: {0: "batch"}},
      others=[(r(3, 6), r(3, 6) > 0), (r(2, 6), r(2, 6) > 1)])
class MaskedMean(nn.Module):
    def forward(self, x, mask):
        count = mask.sum(1).clamp(min=1)
        return (x * mask).sum(1) / count


@case(r(2, 6), (r(2, 6) > -9), dynamic={0: {0: "batch"}, 1: {0: "batch"}},
      others=[(r(3, 6), r(3, 6) > 9), (r(2, 6), r(2, 6) > 9)])
class MeanIfAny(nn.Module):
    def forward(self, x, mask):
        if not mask.any():  # PITFALL: traced-branch
            return x.sum()
        return x.masked_fill(~mask, 0).sum() / mask.sum()


def encode(labels, classes=None):
    if classes is None:
        classes = int(labels.max()) + 1  # PITFALL: item-baked of EncodedByHelper
    return F.one_hot(labels, classes)


@case(torch.tensor([0, 2, 1]), dynamic=B, others=[(torch.tensor([4, 0, 1]),), (torch.tensor([0, 0]),)])
class EncodedByHelper(nn.Module):
    def forward(self, labels):
        return encode(labels).float()


@case(torch.tensor([0, 2, 1]), dynamic=B, others=[(torch.tensor([4, 0, 1]),), (torch.tensor([0, 0]),)])
class EncodedInFive(nn.Module):
    def forward(self, labels):
        return encode(labels, 5).float()


@case(torch.tensor([0, 2, 1]), dynamic=B, others=[(torch.tensor([4, 0, 1]),), (torch.tensor([0, 0]),)])
class EncodedByRows(nn.Module):
    def forward(self, labels):
        return torch.eye(5)[labels]


@case(torch.tensor([0, 2, 1]), dynamic=B, others=[(torch.tensor([2, 0, 1]),), (torch.tensor([2, 0]),)])
class EncodedAsFound(nn.Module):
    def forward(self, labels):
        hot = F.one_hot(labels)  # PITFALL: one-hot-depth
        return hot.to(torch.float32).mean(0)


@case(r(2, 6), dynamic=B, others=[(r(3, 6),), (r(2, 6) * 5,)])
class ScaleOfAbsMax(nn.Module):
    def forward(self, x):
        scale = float(x.abs().max()) / 127  # PITFALL: item-baked
        return torch.round(x / scale).clamp(-128, 127) * scale


@case(r(2, 6), dynamic=B, others=[(r(3, 6),), (r(2, 6) * 5,)])
class ScaleAsATensor(nn.Module):
    def forward(self, x):
        scale = x.abs().amax() / 127
        return torch.round(x / scale).clamp(-128, 127) * scale


@case(r(2, 3, 4), dynamic=B, others=[(r(3, 3, 4),), (r(1, 3, 4),)])
class StatisticsOfNumPy(nn.Module):
    MEAN = np.array([0.485, 0.456, 0.406])

    def __init__(self):
        super().__init__()
        self.mean = torch.as_tensor(self.MEAN, dtype=torch.float32).view(1, 3, 1)

    def forward(self, x):
        return (x - self.mean) * float(np.float64(4.4))


@case(r(2, 4), dynamic=B, others=[(r(3, 4),), (r(1, 4),)])
class DoubleOfNumPy(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("window", torch.from_numpy(np.hamming(4)))

    def forward(self, x):
        return (x * self.window).sum(-1).float()  # PITFALL: float64-promotion


@case(r(2, 4), dynamic=B, others=[(r(3, 4),), (r(1, 4),)])
class ScalarOfNumPy(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = np.sqrt(4.0)

    def forward(self, x):
        return x / self.scale + np.float64(0.5)


@case(r(2, 6).half(), (r(2, 6) > 0), dynamic={0: {0: "batch"}, 1: {0: "batch"}},
      others=[(r(3, 6).half(), r(3, 6) > 0), (r(2, 6).half(), r(2, 6) > 1)])
class HalfBias(nn.Module):
    def forward(self, x, mask):
        bias = (1.0 - mask.half()) * -1e9  # PITFALL: constant-overflow
        return (x + bias).softmax(-1)


@case(r(2, 6).half(), (r(2, 6) > 0), dynamic={0: {0: "batch"}, 1: {0: "batch"}},
      others=[(r(3, 6).half(), r(3, 6) > 0), (r(2, 6).half(), r(2, 6) > 1)])
class HalfBiasOfItsType(nn.Module):
    def forward(self, x, mask):
        return (x + lib.padding_bias(mask, x.dtype)).softmax(-1)


@case(r(2, 6), dynamic=B, others=[(r(3, 6),), (r(5, 6),)])
class FirstRowWritten(nn.Module):
    def forward(self, x):
        y = x.clone()
        head, tail = y.split([2, 4], dim=1)
        head.zero_()  # PITFALL: in-place-view-lost
        return y


@case(r(2, 6), dynamic=B, others=[(r(3, 6),), (r(5, 6),)])
class CopiedThenWritten(nn.Module):
    def forward(self, x):
        head = x[:, :2].clone()
        head.mul_(3)
        return torch.cat([head, x[:, 2:]], 1)


@case(r(2, 6), dynamic=B, others=[(r(3, 6),), (r(5, 6),)])
class DiagonalFilled(nn.Module):
    def forward(self, x):
        gram = x.t() @ x
        gram.diagonal().fill_(0)  # PITFALL: in-place-view-lost
        return gram


class Rounded(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, steps):
        ctx.save_for_backward(x)
        return torch.round(x * steps) / steps

    @staticmethod
    def backward(ctx, grad):
        return grad, None


@case(r(2, 6), dynamic=B, others=[(r(3, 6),), (r(5, 6),)])
class StraightThrough(nn.Module):
    def forward(self, x):
        return Rounded.apply(x, 8.0)


class Reversed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight):
        ctx.weight = weight
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return -ctx.weight * grad, None


@case(r(2, 6), dynamic=B, others=[(r(3, 6),), (r(5, 6),)])
class GradientReversed(nn.Module):
    def __init__(self):
        super().__init__()
        self.classify = nn.Linear(6, 3)

    def forward(self, x):
        return self.classify(Reversed.apply(x, 0.1))


@case(r(2, 3, 4), dynamic=B, others=[(r(3, 3, 4),), (r(1, 3, 4),)])
class LambdaInASequential(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(4, 5),
            lib.FlattenWith(lambda t: t.view(int(t.size(0)), 15)),  # PITFALL: baked-shape
            nn.Linear(15, 2))

    def forward(self, x):
        return self.layers(x)


@case(r(2, 3, 4), dynamic=B, others=[(r(3, 3, 4),), (r(1, 3, 4),)])
class RightLambda(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 5), lib.FlattenWith(lambda t: t.view(t.size(0), -1)), nn.Linear(15, 2))

    def forward(self, x):
        return self.layers(x)


@case(r(2, 5, 4), dynamic={0: {0: "batch", 1: "time"}}, others=[(r(3, 7, 4),), (r(1, 2, 4),)])
class MeanByCount(lib.Pool):
    def pool(self, x):
        return x.sum(1) / int(x.shape[1])  # PITFALL: baked-shape, in no graph


@case(r(2, 5, 4), dynamic={0: {0: "batch", 1: "time"}}, others=[(r(3, 7, 4),), (r(1, 2, 4),)])
class LastOfTime(lib.Pool):
    def pool(self, x):
        return x[:, -1] + x.sum(1) / x.shape[1]


@case(r(2, 4), dynamic=B, others=[(r(3, 4) * 7,), (r(1, 4),)])
class WeightedByPeak(lib.Residual):
    def branch(self, x):
        return x.relu()

    def weight(self, x):
        return x.abs().max().item()  # PITFALL: item-baked


@case(r(2, 4), dynamic=B, others=[(r(3, 4) * 7,), (r(1, 4),)])
class WeightedByParameter(lib.Residual):
    def __init__(self):
        super().__init__()
        self.gain = nn.Parameter(torch.tensor(0.3))

    def branch(self, x):
        return x.relu()

    def weight(self, x):
        return self.gain.item()


@case(r(2, 4), dynamic=B, others=[(r(3, 4) * 7,), (r(1, 4),)])
class BuiltByName(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = build(["by_norm", "by_peak"])

    def forward(self, x):
        return self.layers(x)


@case(r(2, 4), dynamic=B, others=[(r(3, 4) * 7,), (r(1, 4),)])
class BuiltRight(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = build(["by_norm", "by_norm"])

    def forward(self, x):
        return self.layers(x)


def scaled_to(x, top, how):
    return x * (top / how(x))


def peak(x):
    return float(x.abs().max())  # PITFALL: item-baked of PartialWithAPeak


@case(r(2, 4), dynamic=B, others=[(r(3, 4) * 7,), (r(1, 4),)])
class PartialWithAPeak(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = functools.partial(scaled_to, top=1.0, how=peak)

    def forward(self, x):
        return self.scale(x)


@case(r(2, 4), dynamic=B, others=[(r(3, 4) * 7,), (r(1, 4),)])
class PartialOfTensors(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = functools.partial(scaled_to, top=1.0, how=torch.amax)
        self.act = functools.partial(F.leaky_relu, negative_slope=0.2)

    def forward(self, x):
        return self.act(self.scale(x.abs() + 1))


class Base(nn.Module):
    def forward(self, x):
        return x.reshape(self.rows(x), -1)

    @staticmethod
    def rows(x):
        return int(x.shape[0])  # PITFALL: baked-shape of CallsItsBase


@case(r(2, 3, 4), dynamic=B, others=[(r(3, 3, 4),), (r(1, 3, 4),)])
class CallsItsBase(Base):
    def forward(self, x):
        return super().forward(x.relu()) * 2


@case(r(2, 3, 4), dynamic=B, others=[(r(3, 3, 4),), (r(1, 3, 4),)])
class MendsItsBase(Base):
    def forward(self, x):
        return super().forward(x.relu()) * 2

    @staticmethod
    def rows(x):
        return x.shape[0]


@case(r(2, 4), dynamic=B, others=[(r(3, 4) * 7,), (r(1, 4),)])
class TableByName(nn.Module):
    ACTS = {"relu": F.relu, "gelu": F.gelu}

    def __init__(self, act="gelu"):
        super().__init__()
        self.act = self.ACTS[act]
        self.branches = nn.ModuleDict({"a": nn.Linear(4, 4), "b": nn.Linear(4, 4)})

    def forward(self, x):
        for name, branch in self.branches.items():
            x = self.act(branch(x)) if name == "a" else branch(x)
        return x


@case(r(2, 3, 4), dynamic=B, others=[(r(3, 3, 4),), (r(1, 3, 4),)])
class ViewOfASize(nn.Module):
    def forward(self, x):
        return x.view(torch.Size([x.size(0), 12]))


@case(r(2, 6, 4), dynamic={0: {0: "batch", 1: "time"}}, others=[(r(3, 3, 4),), (r(1, 5, 4),)])
class ViewOfAllButLast(nn.Module):
    def forward(self, x):
        y = x.view(*x.shape[:-1], 2, 2)
        return y.sum(-1).view(x.shape[:-1] + (2,))


@case(r(2, 6, 4), dynamic=B, others=[(r(3, 6, 4),), (r(1, 6, 4),)])
class ProductOfFixed(nn.Module):
    def forward(self, x):
        return x.reshape(-1, int(np.prod(x.shape[1:])))


@case(r(2, 6, 4), dynamic={0: {0: "batch", 1: "time"}}, others=[(r(3, 5, 4),), (r(1, 7, 4),)])
class ProductOfFree(nn.Module):
    def forward(self, x):
        return x.reshape(-1, int(np.prod(x.shape[1:])))  # PITFALL: numpy-constant


@case(r(2, 6, 4), dynamic={0: {0: "batch", 1: "time"}}, others=[(r(3, 5, 4),), (r(1, 7, 4),)])
class ProductInPython(nn.Module):
    def forward(self, x):
        return x.reshape(-1, math.prod(x.shape[1:]))


@case(r(2, 6, 4), dynamic={0: {0: "batch", 1: "time"}}, others=[(r(3, 5, 4),), (r(1, 7, 4),)])
class CountOfElements(nn.Module):
    def forward(self, x):
        return x.sum() / x.numel()
