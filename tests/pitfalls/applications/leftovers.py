"""Layers left in training mode, and outputs computed from sizes, from buffers, or through views."""
import torch
import torch.nn as nn
import torch.nn.functional as F

from cases import case
from kit import layers

r = torch.randn
BT = {0: {0: "batch", 1: "time"}}
B = {0: {0: "batch"}}


@case(r(2, 5, 8), dynamic=BT, others=[(r(3, 7, 8),), (r(1, 2, 8),)])
class DropsOnPurpose(nn.Module):
    def __init__(self):
        super().__init__()
        self.p = 0.2
        self.drop = nn.Dropout(0.2)

    def forward(self, x):
        y = F.dropout(x, p=self.p, training=True)  # PITFALL: training-mode
        return self.drop(y).mean(1)


@case(r(2, 5, 8), dynamic=BT, others=[(r(3, 7, 8),), (r(1, 2, 8),)])
class BatchStatistics(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(8))
        self.register_buffer("var", torch.ones(8))

    def forward(self, x):
        y = F.batch_norm(x.transpose(-1, -2), self.mean, self.var, training=True)  # PITFALL: training-mode
        return y.transpose(-1, -2)


@case(r(2, 5, 8), dynamic=BT, others=[(r(3, 7, 8),), (r(1, 2, 8),)])
class LayerStatistics(nn.Module):
    def forward(self, x):
        y = F.layer_norm(x, x.shape[-1:])
        return F.group_norm(y.transpose(-1, -2), 2).transpose(-1, -2)


@case(r(3, 4), dynamic=B, others=[(r(5, 4),), (r(2, 4),)])
class ReshapedAndWritten(nn.Module):
    """Correct: the in-place write is to the view that is read afterwards."""

    def forward(self, x):
        flat = x.clone().view(-1)
        flat[::2] = 0
        return flat.view_as(x)


@case(r(3, 4), dynamic=B, others=[(r(5, 4),), (r(2, 4),)])
class CountOnTheSide(nn.Module):
    """The second output does not depend on the input, so it is a constant."""

    def __init__(self):
        super().__init__()
        self.register_buffer("version", torch.tensor([1, 2]))

    def forward(self, x):
        return x.sum(1), self.version + 1  # PITFALL: constant-output


@case(r(3, 4), dynamic=B, others=[(r(5, 4),), (r(2, 4),)])
class LengthInATensor(nn.Module):
    def forward(self, x):
        n = torch.tensor(len(x))  # PITFALL: baked-shape, in no graph
        return x.sum(0) / n


@case(r(3, 4), dynamic=B, others=[(r(5, 4),), (r(2, 4),)])
class LengthFromMean(nn.Module):
    def forward(self, x):
        return x.sum(0) / x.shape[0] - x.mean(0) + x.numel() / 4


@case(r(3, 4), dynamic=B, others=[(r(5, 4),), (r(2, 4),)])
class RepeatedByLen(layers.Stateless):
    def __init__(self):
        super().__init__()
        self.start = nn.Parameter(r(4))

    def transform(self, x):
        tokens = torch.stack([self.start] * x.shape[0])  # PITFALL: baked-shape, in no graph
        return torch.cat([tokens, x], 1)
