"""Loops over dynamic axes, which tracing unrolls, and loops with a fixed number of steps."""
import torch
import torch.nn as nn
import torch.nn.functional as F

from cases import case

r = torch.randn


@case(r(2, 6, 4), dynamic={0: {0: "batch", 1: "time"}}, others=[(r(2, 9, 4),), (r(3, 4, 4),)])
class CellOverTime(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(4, 4)

    def forward(self, x):
        h = c = x.new_zeros(x.shape[0], 4)
        for t in range(x.shape[1]):  # PITFALL: unrolled-loop
            h, c = self.cell(x[:, t], (h, c))
        return h


@case(r(3, 4, 4), dynamic={0: {0: "batch"}}, others=[(r(5, 4, 4),), (r(2, 4, 4),)])
class OverSamples(nn.Module):
    def forward(self, x):
        rows = []
        for sample in x:  # PITFALL: unrolled-loop
            rows.append(sample @ sample.t())
        return torch.stack(rows)


@case(r(4, 4, 4), dynamic={0: {0: "batch"}}, others=[(r(5, 4, 4),), (r(2, 4, 4),)])
class SamplesByIndex(nn.Module):
    def forward(self, x):
        rows = [torch.linalg.norm(x[i], dim=-1).softmax(0) for i in range(x.size(0))]  # PITFALL: unrolled-loop
        return torch.stack(rows)


@case(r(3, 5, 4), dynamic={0: {0: "batch", 1: "time"}}, others=[(r(3, 8, 4),), (r(2, 3, 4),)])
class DecayOverTime(nn.Module):
    def forward(self, x):
        out = []
        state = torch.zeros_like(x[:, 0])
        for step in x.unbind(1):  # PITFALL: unrolled-loop
            state = 0.9 * state + 0.1 * step.tanh()
            out.append(state)
        return torch.stack(out, 1)


@case(r(2, 3, 4), dynamic={0: {0: "batch", 1: "time"}}, others=[(r(2, 5, 4),), (r(2, 2, 4),)])
class ThreeSteps(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(4, 4)

    def forward(self, x):
        h = x.new_zeros(x.shape[0], 4)
        for t in range(x.shape[1]):  # PITFALL: unrolled-loop
            h = self.cell(x[:, t], h)
        return h


@case(r(1, 3, 32, 32), dynamic={0: {0: "batch"}}, others=[(r(2, 3, 32, 32),)])
class FourScales(nn.Module):
    """Correct: the loop runs over a list of feature maps, one for each layer of the module."""

    def __init__(self):
        super().__init__()
        self.down = nn.ModuleList(nn.Conv2d(3, 3, 3, 2, 1) for _ in range(4))
        self.side = nn.ModuleList(nn.Conv2d(3, 3, 1) for _ in range(4))

    def forward(self, x):
        maps = []
        for layer in self.down:
            x = layer(x)
            maps.append(x)
        out = 0
        for side, level in zip(self.side, maps):
            out = out + F.interpolate(side(level), size=(8, 8), mode="nearest")
        return out


@case([r(1, 3, 8, 8), r(1, 3, 4, 4), r(1, 3, 2, 2), r(1, 3, 1, 1)])
class ListOfMaps(nn.Module):
    def forward(self, maps):
        total = 0
        for level in maps:
            total = total + F.interpolate(level, size=(8, 8), mode="nearest")
        return total


@case(r(2, 8), dynamic={0: {0: "batch"}}, others=[(r(3, 8),), (r(1, 8),)])
class FourGroups(nn.Module):
    """Correct: the loop runs over four groups of channels, each with a separate layer."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(2, 2) for _ in range(4))

    def forward(self, x):
        parts = x.chunk(4, dim=1)
        return torch.cat([layer(part).relu() for layer, part in zip(self.layers, parts)], 1)


@case(r(2, 8), dynamic={0: {0: "batch"}}, others=[(r(3, 8),), (r(1, 8),)])
class ChannelsByNumber(nn.Module):
    """Correct: the number of channels is static, so a loop over eight channels fits every input."""

    def forward(self, x):
        return torch.stack([x[:, i] * (i + 1) + x[:, i].sigmoid().exp() for i in range(8)], 1)


@case(r(2, 4), dynamic={0: {0: "batch"}}, others=[(r(3, 4),), (r(1, 4),)])
class FixedIterations(nn.Module):
    def forward(self, x):
        y = x
        for _ in range(5):
            y = y - 0.5 * (y * y - x).tanh()
        return y


@case(r(2, 4), dynamic={0: {0: "batch"}}, others=[(r(3, 4),), (r(1, 4),)])
class LayersInAList(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(5))

    def forward(self, x):
        for i, layer in enumerate(self.layers):
            x = layer(x).relu() if i < len(self.layers) - 1 else layer(x)
        return x


@torch.jit.script
def scripted_sum(x: torch.Tensor) -> torch.Tensor:
    total = torch.zeros_like(x[:, 0])
    for i in range(x.size(1)):
        total = total * 0.5 + x[:, i].tanh()
    return total


@case(r(2, 5, 3), dynamic={0: {0: "batch", 1: "time"}}, others=[(r(2, 8, 3),), (r(3, 2, 3),)])
class ScriptedLoop(nn.Module):
    """Correct: the loop is scripted, so it becomes a Loop in the graph."""

    def forward(self, x):
        return scripted_sum(x)


@torch.jit.script
def scripted_choice(x: torch.Tensor) -> torch.Tensor:
    if bool(x.sum() > 0):
        return x * 2
    return x - 1


@case(r(2, 5), dynamic={0: {0: "batch", 1: "time"}}, others=[(r(2, 8) - 9,), (r(3, 2) + 9,)])
class ScriptedBranch(nn.Module):
    def forward(self, x):
        return scripted_choice(x)


@case(r(2, 6, 4), dynamic={0: {0: "batch", 1: "time"}}, others=[(r(2, 9, 4),), (r(3, 4, 4),)])
class LayerOverTime(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(4, 4, batch_first=True)

    def forward(self, x):
        return self.gru(x)[0]


@case(r(2, 3), dynamic={0: {0: "batch"}}, others=[(r(3, 3),), (r(1, 3),)])
class ThreeCoordinates(nn.Module):
    def forward(self, x):
        a, b, c = x.unbind(1)
        return torch.stack([a * b, b * c, c * a], 1)


@case(r(4, 3), dynamic={0: {0: "points"}}, others=[(r(6, 3),), (r(3, 3),)])
class NestedOverPoints(nn.Module):
    def forward(self, x):
        total = x.new_zeros(())
        for i in range(len(x)):  # PITFALL: unrolled-loop
            total = total + (x[i] * x[i - 1]).sum().tanh()
        return total
