"""In-place writes: some that the tracing exporter loses, and similar ones that it keeps."""
import torch
import torch.nn as nn

from cases import case

r = torch.randn
B = {0: {0: "batch"}}


@case(r(2, 6), dynamic=B, others=[(r(3, 6),), (r(5, 6),)])
class RowOfAView(nn.Module):
    def forward(self, x):
        y = x.clone()
        y.view(-1).add_(1)  # PITFALL: in-place-view-lost
        return y


@case(r(2, 6), dynamic=B, others=[(r(3, 6),), (r(5, 6),)])
class ColumnThroughAName(nn.Module):
    def forward(self, x):
        y = x * 1
        first = y[:, 0]
        first.mul_(2)  # PITFALL: in-place-view-lost
        return y


@case(r(2, 6), dynamic=B, others=[(r(3, 6),), (r(5, 6),)])
class TransposedAndChanged(nn.Module):
    def forward(self, x):
        y = x.clone()
        t = y.transpose(0, 1)
        t += 1  # PITFALL: in-place-view-lost
        return y


@case(r(2, 6), dynamic=B, others=[(r(3, 6),), (r(5, 6),)])
class WriteBySlice(nn.Module):
    def forward(self, x):
        y = x.clone()
        y[:, 1:3] = 0
        return y


@case(r(2, 6), dynamic=B, others=[(r(3, 6),), (r(5, 6),)])
class WriteByMask(nn.Module):
    def forward(self, x):
        y = x.clone()
        y[y > 0] = 0.5
        return y


@case(r(2, 6), dynamic=B, others=[(r(3, 6),), (r(5, 6),)])
class ChangedAndUsedItself(nn.Module):
    def forward(self, x):
        y = x.clone()
        z = y.view(-1)
        z.add_(1)
        return z


@case(r(2, 6), dynamic=B, others=[(r(3, 6),), (r(5, 6),)])
class InPlaceRelu(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, 6), nn.ReLU(inplace=True), nn.Linear(6, 2), nn.Hardtanh(inplace=True))

    def forward(self, x):
        return self.net(x)


@case(r(2, 6), dynamic=B, others=[(r(3, 6),), (r(5, 6),)])
class ChangedBeforeTheView(nn.Module):
    def forward(self, x):
        y = x.clone()
        y.add_(1)
        return y.view(-1, 2, 3).sum(2)


@case(r(2, 6), dynamic=B, others=[(r(3, 6),), (r(5, 6),)])
class AccumulatedSum(nn.Module):
    def forward(self, x):
        total = torch.zeros_like(x)
        for k in range(3):
            total += x ** k
        return total


@case(r(2, 6), dynamic=B, others=[(r(3, 6),), (r(5, 6),)])
class CopyOfAPart(nn.Module):
    def forward(self, x):
        y = x.clone()
        part = y[:, 2:4].clone()
        part += 1
        return y, part


@case(r(2, 5, 4), dynamic={0: {0: "batch", 1: "time"}}, others=[(r(3, 7, 4),), (r(1, 3, 4),)])
class PaddedSizeInPlace(nn.Module):
    def forward(self, x):
        length = x.shape[1]
        padded = length
        padded += 2  # PITFALL: in-place-shape-alias
        out = x.new_zeros(x.shape[0], padded, 4)
        out[:, :length] = x
        return out


@case(r(2, 5, 4), dynamic={0: {0: "batch", 1: "time"}}, others=[(r(3, 7, 4),), (r(1, 3, 4),)])
class SizeChangedOnce(nn.Module):
    def forward(self, x):
        length = x.shape[1]
        length += 2
        return x.new_ones(x.shape[0], length, 4).sum(1) * x.mean(1)


@case(r(3, 4), r(2, 4), dynamic={0: {0: "rows"}}, others=[(r(4, 4), r(2, 4)), (r(6, 4), r(2, 4))])
class WriteFirstAndLast(nn.Module):
    def forward(self, data, new):
        data = data.clone()
        data[torch.tensor([0, -1])] = new
        return data


@case(r(3, 4), dynamic={0: {0: "rows"}}, others=[(r(4, 4),), (r(6, 4),)])
class ReadFirstAndLast(nn.Module):
    def forward(self, data):
        return data[torch.tensor([0, -1])] + data[-1]


@case(r(3, 4), dynamic={0: {0: "rows"}}, others=[(r(4, 4),), (r(6, 4),)])
class ReadLastColumns(nn.Module):
    def forward(self, data):
        return data[:, [-1, -2]] * data[:, -1:]
