"""Values of tensors that become Python numbers and so constants of the trace, and correct similar code."""
import functools

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from cases import case

r = torch.randn


def batch_of(*shape):
    return {0: {0: "batch"}}


@case(r(2, 6).abs(), dynamic={0: {0: "batch"}}, others=[(r(2, 6).abs() * 3,), (r(3, 6).abs(),)])
class ItemAsScale(nn.Module):
    def forward(self, x):
        scale = x.max().item()  # PITFALL: item-baked
        return x / scale


@case(r(2, 6), dynamic={0: {0: "batch"}}, others=[(r(2, 6) * 3,), (r(3, 6),)])
class FloatOfMean(nn.Module):
    def forward(self, x):
        return x - float(x.mean())  # PITFALL: item-baked


@case(r(2, 6), torch.tensor([3, 4]), dynamic={0: {0: "batch"}, 1: {0: "batch"}},
      others=[(r(2, 6), torch.tensor([5, 2])), (r(3, 6), torch.tensor([6, 6, 1]))])
class LongestOfLengths(nn.Module):
    def forward(self, x, lengths):
        longest = int(lengths.max())  # PITFALL: item-baked
        return x[:, :longest].sum(1)


@case(r(2, 6), torch.tensor([3, 4]), dynamic={0: {0: "batch"}, 1: {0: "batch"}},
      others=[(r(2, 6), torch.tensor([5, 2])), (r(3, 6), torch.tensor([6, 6, 1]))])
class ListOfLengths(nn.Module):
    def forward(self, x, lengths):
        ends = lengths.tolist()  # PITFALL: item-baked
        return x[:, :ends[0]].sum(1)


@case(r(2, 6), dynamic={0: {0: "batch"}}, others=[(r(2, 6) - 9,), (r(3, 6) + 9,)])
class BranchOnItem(nn.Module):
    def forward(self, x):
        level = x.mean().item()  # PITFALL: item-baked
        if level > 0:  # PITFALL: traced-branch
            return x * 2
        return x - 1


@case(r(2, 6).abs(), dynamic={0: {0: "batch"}}, others=[(r(2, 6) - 9,), (r(3, 6) - 9,)])
class BranchOnAny(nn.Module):
    def forward(self, x):
        if (x < 0).any():  # PITFALL: traced-branch
            x = x.clamp(min=0)
        return x + 1


@case(r(2, 6).abs(), dynamic={0: {0: "batch"}}, others=[(r(2, 6) - 9,), (r(3, 6) - 9,)])
class ChoiceInline(nn.Module):
    def forward(self, x):
        return x.relu() if x.sum() > 0 else x.neg()  # PITFALL: traced-branch


@case(r(2, 6).abs() + 1, dynamic={0: {0: "batch"}}, others=[(r(2, 6).abs() * 50 + 50,), (r(3, 6).abs() / 99,)])
class UntilItIsSmall(nn.Module):
    def forward(self, x):
        while x.max() > 0.5:  # PITFALL: traced-branch
            x = x / 2
        return x


@case(r(2, 6).abs() + 1, dynamic={0: {0: "batch"}}, others=[(r(2, 6).abs() * 50 + 50,), (r(3, 6).abs() / 99,)])
class BreakOnData(nn.Module):
    def forward(self, x):
        for _ in range(12):
            x = x / 2
            if x.max() < 0.5:  # PITFALL: traced-branch
                break
        return x


@case(torch.tensor([0, 2, 1]), dynamic={0: {0: "batch"}}, others=[(torch.tensor([4, 0, 1]),), (torch.tensor([0, 0]),)])
class DepthFromData(nn.Module):
    def forward(self, labels):
        return F.one_hot(labels, int(labels.max()) + 1).float()  # PITFALL: item-baked


@case(r(2, 6), dynamic={0: {0: "batch"}}, others=[(r(3, 6),), (r(5, 6),)])
class ItemOfBuffer(nn.Module):
    """Correct: a buffer has the same value in every run, so its item may be a constant."""

    def __init__(self):
        super().__init__()
        self.register_buffer("steps", torch.tensor(3))
        self.register_buffer("scale", torch.tensor(0.25))

    def forward(self, x):
        return x[:, :self.steps.item()] * self.scale.item()


@case(r(2, 6), dynamic={0: {0: "batch"}}, others=[(r(3, 6),), (r(5, 6),)])
class BranchOnBuffer(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("enabled", torch.tensor(True))

    def forward(self, x):
        if self.enabled:
            return x * 2
        return x


@case(r(2, 6), dynamic={0: {0: "batch"}}, others=[(r(3, 6),), (r(5, 6),)])
class BranchOnRank(nn.Module):
    def forward(self, x):
        if x.dim() == 2:
            x = x.unsqueeze(1)
        if x.dtype == torch.float32 and x.shape[-1] == 6:
            x = x * 2
        return x.squeeze(1)


@case(r(2, 6), dynamic={0: {0: "batch"}}, others=[(r(3, 6),), (r(5, 6),)])
class OptionalMask(nn.Module):
    def forward(self, x, mask=None):
        if mask is not None:
            x = x.masked_fill(mask, 0)
        return x.softmax(-1)


@case(r(2, 6), dynamic={0: {0: "batch"}}, others=[(r(3, 6),), (r(5, 6) * 9,)])
class ChosenByWhere(nn.Module):
    def forward(self, x):
        level = x.mean()
        return torch.where(level > 0, x * 2, x - 1)


@case(r(2, 5), dynamic={0: {0: "batch", 1: "time"}}, others=[(r(3, 7),), (r(1, 4),)])
class TensorOfSize(nn.Module):
    def forward(self, x):
        n = torch.tensor(x.shape[1])
        return x / n


@case(r(2, 5), dynamic={0: {0: "batch"}}, others=[(r(3, 5),), (r(1, 5),)])
class NumbersInATensor(nn.Module):
    def forward(self, x):
        return x * torch.tensor([0.5, 0.25, 1.0, 2.0, 3.0])


@case(r(2, 5), dynamic={0: {0: "batch"}}, others=[(r(3, 5),), (r(1, 5),)])
class TableFromNumPy(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("table", torch.from_numpy(np.hanning(5).astype("float32")))

    def forward(self, x):
        return x * self.table


@case(r(2, 5), dynamic={0: {0: "batch"}}, others=[(r(3, 5),), (r(1, 5) * 8,)])
class ThroughNumPy(nn.Module):
    def forward(self, x):
        limit = np.abs(x.detach().cpu().numpy()).max()  # PITFALL: numpy-constant
        return x / float(limit)


@case(r(2, 6), dynamic={0: {0: "batch"}}, others=[(r(2, 6) - 9,), (r(3, 6) + 9,)])
class CountByHelper(nn.Module):
    def forward(self, x):
        from helpers import count_of
        return x / (count_of(x > 0) + 1)  # CALLS: item-baked


@case(r(2, 3, 4), dynamic={0: {0: "batch"}}, others=[(r(3, 3, 4),), (r(1, 3, 4),)])
class SizesByHelper(nn.Module):
    def forward(self, x):
        from helpers import sizes
        b, n, d = sizes(x)
        return x.reshape(b, n * d)


@case(torch.tensor([0, 2, 1]), dynamic={0: {0: "batch"}}, others=[(torch.tensor([2, 0, 1]),), (torch.tensor([0, 0]),)])
class ClassesByHelper(nn.Module):
    def forward(self, labels):
        from helpers import to_classes
        return to_classes(labels)  # CALLS: one-hot-depth


@case(torch.tensor([0, 2, 1]), dynamic={0: {0: "batch"}}, others=[(torch.tensor([2, 0, 1]),), (torch.tensor([0, 0]),)])
class ThreeClassesByHelper(nn.Module):
    def forward(self, labels):
        from helpers import to_classes
        return to_classes(labels, 3)


@case(r(2, 5), dynamic={0: {0: "batch", 1: "time"}}, others=[(r(3, 7),), (r(1, 4),)])
class RampByHelper(nn.Module):
    def forward(self, x):
        from helpers import free_sizes, ramp
        b, n = free_sizes(x)
        return x.reshape(b, n) * ramp(n)


def scaled_by(x, how):
    return x * how(x)


@case(r(2, 6).abs(), dynamic={0: {0: "batch"}}, others=[(r(2, 6).abs() * 7,), (r(3, 6).abs(),)])
class PartialWithItem(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = functools.partial(scaled_by, how=lambda x: 1 / x.sum().item())  # PITFALL: item-baked

    def forward(self, x):
        return self.norm(x)


@case(r(2, 6), dynamic={0: {0: "batch"}}, others=[(r(3, 6),), (r(5, 6),)])
class AssertedSize(nn.Module):
    def forward(self, x):
        assert x.shape[1] == 6, "six features"
        return x.sum(1)


@case(r(2, 6).abs(), dynamic={0: {0: "batch"}}, others=[(r(3, 6).abs(),), (r(5, 6).abs(),)])
class PrintedItem(nn.Module):
    """Correct: the item is only printed, and only outside of tracing."""

    def forward(self, x):
        if not torch.jit.is_tracing() and not torch.compiler.is_compiling():
            print(x.max().item())
        return x * 2
