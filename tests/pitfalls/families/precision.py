"""Element types: float64 instead of float32, overflows of float16, and correct modules."""
import numpy as np
import torch
import torch.nn as nn

from cases import case

r = torch.randn
B = {0: {0: "batch"}}


@case(r(2, 4), dynamic=B, others=[(r(3, 4),), (r(5, 4),)])
class DoubleTableFromNumPy(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.from_numpy(np.linspace(0, 1, 4))

    def forward(self, x):
        return x * self.table  # PITFALL: float64-promotion


@case(r(2, 4), dynamic=B, others=[(r(3, 4),), (r(5, 4),)])
class DoubleWindow(nn.Module):
    def forward(self, x):
        window = torch.as_tensor(np.hamming(4))  # PITFALL: numpy-constant
        return (x * window).float()  # PITFALL: float64-promotion


@case(r(2, 4), dynamic=B, others=[(r(3, 4),), (r(5, 4),)])
class ScalarFromNumPy(nn.Module):
    """Correct: a Python float that NumPy computed does not promote the result to float64."""

    def __init__(self):
        super().__init__()
        self.scale = float(np.sqrt(2.0))

    def forward(self, x):
        return x * self.scale + np.pi


@case(r(2, 4, 4).half(), (torch.arange(4) < 3), dynamic=B, others=[(r(3, 4, 4).half(), torch.arange(4) < 4)])
class HalfMaskOverflows(nn.Module):
    def forward(self, x, keep):
        bias = (1.0 - keep.half()) * -1e9  # PITFALL: constant-overflow
        return (x + bias).softmax(-1)


@case(r(2, 4, 4).half(), (torch.arange(4) < 3), dynamic=B, others=[(r(3, 4, 4).half(), torch.arange(4) < 4)])
class HalfMaskByFill(nn.Module):
    def forward(self, x, keep):
        return x.masked_fill(~keep, torch.finfo(x.dtype).min).softmax(-1)


@case(r(2, 4, 4), (torch.arange(4) < 3), dynamic=B, others=[(r(3, 4, 4), torch.arange(4) < 4)])
class FloatMask(nn.Module):
    def forward(self, x, keep):
        return (x + (1.0 - keep.float()) * -1e9).softmax(-1)


@case(r(2, 4, 4), (torch.arange(4) < 3), dynamic=B, others=[(r(3, 4, 4), torch.arange(4) < 2)])
class InfiniteFill(nn.Module):
    def forward(self, x, keep):
        return x.masked_fill(~keep, float("-inf")).softmax(-1)


@case(r(2, 4), dynamic=B, others=[(r(3, 4),), (r(5, 4),)])
class DoubleOnPurpose(nn.Module):
    """Correct: a long sum is deliberately computed in float64, and cast back to float32."""

    def forward(self, x):
        return x.double().cumsum(1).float()


@case(r(2, 4), dynamic=B, others=[(r(3, 4),), (r(5, 4),)])
class NormAcrossBatch(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(4)

    def forward(self, x):
        return self.norm(x)


@case(r(2, 3, 6, 6), dynamic=B, others=[(r(3, 3, 6, 6),), (r(1, 3, 6, 6),)])
class InstanceNorm(nn.Module):
    """Correct: without running statistics, InstanceNorm uses statistics of the input in eval mode, too."""

    def __init__(self):
        super().__init__()
        self.norm = nn.InstanceNorm2d(3, affine=True)

    def forward(self, x):
        return self.norm(x)


@case(r(2, 4), dynamic=B, others=[(r(3, 4),), (r(5, 4),)])
class DropoutOff(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        return self.drop(x) + nn.functional.dropout(x, 0.1, training=self.training)


@case(r(2, 400), dynamic=B, others=[(r(3, 400),)])
class DropoutForgotten(nn.Module):
    def forward(self, x):
        return nn.functional.dropout(x, 0.5)  # PITFALL: training-mode


@case(r(2, 4), torch.tensor([1, 0]), dynamic={0: {0: "batch"}, 1: {0: "batch"}},
      others=[(r(3, 4), torch.tensor([1, 0, 3])), (r(1, 4), torch.tensor([2]))])
class GatherByLabel(nn.Module):
    def forward(self, x, labels):
        return x.gather(1, labels[:, None]).squeeze(1)


class _Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


@case(r(2, 4), dynamic=B, others=[(r(3, 4),), (r(5, 4),)])
class FunctionOfAutograd(nn.Module):
    def forward(self, x):
        return _Doubled.apply(x) + 1


class _Rounded(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def symbolic(g, x):
        return g.op("Round", x)


@case(r(2, 4), dynamic=B, others=[(r(3, 4),), (r(5, 4),)])
class FunctionWithSymbolic(nn.Module):
    def forward(self, x):
        return _Rounded.apply(x * 3)


@case(r(2, 4), dynamic=B, others=[(r(3, 4),), (r(5, 4),)])
class IntegersIntoFloat(nn.Module):
    def forward(self, x):
        return x * torch.arange(4) + torch.arange(x.shape[0])[:, None]
