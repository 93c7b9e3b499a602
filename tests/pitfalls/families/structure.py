"""Faults in modules whose faulty code is in a base class, a submodule, a registry or a free function."""
import torch
import torch.nn as nn

from cases import case
from helpers import REGISTRY, Scaled, register

r = torch.randn
B = {0: {0: "batch"}}


@case(r(2, 6).abs(), dynamic=B, others=[(r(2, 6).abs() * 4,), (r(3, 6).abs(),)])
class OverriddenFactor(Scaled):
    def factor(self, y):
        return 1 / y.max().item()  # PITFALL: item-baked


@case(r(2, 6), dynamic=B, others=[(r(3, 6),), (r(5, 6),)])
class OverriddenInner(Scaled):
    def inner(self, x):
        return x.reshape(x.shape[0], -1).relu()


class Base(nn.Module):
    def forward(self, x):
        return self.head(self.pool(x))

    def pool(self, x):
        return x.mean(1)

    def head(self, x):
        return x


@case(r(2, 3, 4), dynamic=B, others=[(r(3, 3, 4),), (r(5, 3, 4),)])
class OverriddenPool(Base):
    def pool(self, x):
        if x.sum() > 0:  # PITFALL: traced-branch
            return x.amax(1)
        return x.mean(1)


class FlattenAll(nn.Module):
    def forward(self, x):
        n = int(x.shape[0])  # PITFALL: baked-shape
        return x.reshape(n, -1)


@case(r(2, 3, 4), dynamic=B, others=[(r(3, 3, 4),), (r(5, 3, 4),)])
class InASequential(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(FlattenAll(), nn.Linear(12, 2))

    def forward(self, x):
        return self.net(x)


class FlattenRight(nn.Module):
    def forward(self, x):
        return x.reshape(x.shape[0], -1)


@case(r(2, 3, 4), dynamic=B, others=[(r(3, 3, 4),), (r(5, 3, 4),)])
class RightInASequential(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(FlattenRight(), nn.Linear(12, 2))

    def forward(self, x):
        return self.net(x)


@register
class Centred(nn.Module):
    def forward(self, x):
        return x - x.mean().item()  # PITFALL: item-baked


@case(r(2, 6), dynamic=B, others=[(r(2, 6) * 4,), (r(3, 6),)])
class FromRegistry(nn.Module):
    def __init__(self, kind="Centred"):
        super().__init__()
        self.norm = REGISTRY[kind]()

    def forward(self, x):
        return self.norm(x)


def free_function(x: torch.Tensor) -> torch.Tensor:
    if x.max() > 3:  # PITFALL: traced-branch
        return x / 3
    return x


@case(r(2, 6), dynamic=B, others=[(r(2, 6) * 9,), (r(3, 6) + 9,)])
class ByAFreeFunction(nn.Module):
    def forward(self, x):
        return free_function(x)


@case(r(2, 6), dynamic=B, others=[(r(3, 6),), (r(5, 6),)])
class SumAndMean(nn.Module):
    def forward(self, x):
        return {"sum": x.sum(1), "mean": x.mean(1)}  # PITFALL: dict-output


@case(r(2, 6), torch.tensor(2.0), dynamic=B, others=[(r(3, 6), torch.tensor(3.0)), (r(2, 6), torch.tensor(0.5))])
class ScaleAsNumber(nn.Module):
    def forward(self, x, scale):
        return x * float(scale)  # PITFALL: item-baked


@case(r(2, 6), torch.tensor(2.0), dynamic=B, others=[(r(3, 6), torch.tensor(3.0)), (r(2, 6), torch.tensor(0.5))])
class ScaleAsTensor(nn.Module):
    def forward(self, x, scale):
        return x * scale


@case(r(2, 6), dynamic=B, others=[(r(3, 6),), (r(5, 6),)])
class OutputOfOnes(nn.Module):
    def forward(self, x):
        return x * 2, torch.ones(2)  # PITFALL: constant-output


@case(r(2, 6), dynamic=B, others=[(r(3, 6),), (r(5, 6),)])
class LengthAsOutput(nn.Module):
    def forward(self, x):
        return x * 2, torch.full((x.shape[0],), x.shape[1])
