"""Faulty PyTorch code for rules, and its correction. The pages of the rules show both.

Each part starts with the code of its rule and is linted separately, below these imports. A test checks that the rule finds
the fault in the part `before`, unless it is visible only in the exported model, and that the part `after` has no findings.
"""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


# EXP001 before, visible only in the model
class Net(nn.Module):
    def forward(self, x):
        return x.reshape(2, 12)


# EXP001 after
class Net(nn.Module):
    def forward(self, x):
        return x.reshape(x.shape[0], 12)


# EXP002 before
class Net(nn.Module):
    def forward(self, x, mask):
        n = mask.sum().item()
        return x / n


# EXP002 after
class Net(nn.Module):
    def forward(self, x, mask):
        n = mask.sum()
        return x / n


# EXP003 before
class Net(nn.Module):
    def forward(self, states):
        length = states.shape[1]
        padded = length
        padded += 2
        return states.new_zeros(padded), states.new_ones(length)


# EXP003 after
class Net(nn.Module):
    def forward(self, states):
        length = states.shape[1]
        padded = length + 2
        return states.new_zeros(padded), states.new_ones(length)


# EXP004 before
class Net(nn.Module):
    def forward(self, x):
        y = x.clone()
        row = y[0]
        row.add_(1)
        return y


# EXP004 after
class Net(nn.Module):
    def forward(self, x):
        return torch.cat([x[:1] + 1, x[1:]])


# EXP005 before
class Net(nn.Module):
    def forward(self, x):
        scale = float(x.detach().numpy().max())
        return x / scale


# EXP005 after
class Net(nn.Module):
    def forward(self, x):
        scale = x.max()
        return x / scale


# EXP006 before
class Net(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            return x + 1
        return x - 1


# EXP006 after
class Net(nn.Module):
    def forward(self, x):
        return torch.where(x.sum() > 0, x + 1, x - 1)


# EXP007 before
class Net(nn.Module):
    def forward(self, x):
        total = torch.zeros_like(x[:, 0])
        for t in range(x.shape[1]):
            total = total + x[:, t] * x[:, t]
        return total


# EXP007 after
class Net(nn.Module):
    def forward(self, x):
        return (x * x).sum(1)


# EXP008 before, visible only in the model
class Net(nn.Module):
    def forward(self, x, scale):
        return x * 2


# EXP008 after
class Net(nn.Module):
    def forward(self, x, scale):
        return x * scale


# EXP009 before, visible only in the model
class Net(nn.Module):
    def forward(self, x):
        return x + 1, torch.ones(3)


# EXP009 after
class Net(nn.Module):
    def forward(self, x):
        return x + 1, torch.ones_like(x)


# EXP010 before
class Net(nn.Module):
    def forward(self, x):
        return F.dropout(x, 0.5, training=True)


# EXP010 after
class Net(nn.Module):
    def forward(self, x):
        return F.dropout(x, 0.5, training=self.training)


# EXP011 before
class Net(nn.Module):
    def forward(self, x):
        return {"sum": x.sum(1), "mean": x.mean(1)}


# EXP011 after
class Net(nn.Module):
    def forward(self, x):
        return x.sum(1), x.mean(1)


# EXP012 before
class Net(nn.Module):
    def forward(self, x):
        y = x.data
        y += 1
        return x * y


# EXP012 after
class Net(nn.Module):
    def forward(self, x):
        y = x.clone()
        y += 1
        return y * y


# EXP013 before
class Net(nn.Module):
    def forward(self, labels):
        return F.one_hot(labels).float()


# EXP013 after
class Net(nn.Module):
    def forward(self, labels):
        return F.one_hot(labels, num_classes=10).float()


# IDX001 before
class Net(nn.Module):
    def forward(self, data):
        return data[torch.tensor([[1, 2], [2, -3]]), torch.tensor([2, 3])]


# IDX001 after
class Net(nn.Module):
    def forward(self, data):
        return data[torch.tensor([[1, 2], [2, 0]]), torch.tensor([2, 3])]


# IDX002 before
class Net(nn.Module):
    def forward(self, data, new):
        data = data.clone()
        data[torch.tensor([[1, 2], [2, 3]]), torch.tensor([2, 3])] = new
        return data


# IDX002 after
class Net(nn.Module):
    def forward(self, data, new):
        data = data.clone()
        data[torch.tensor([1, 2, 2, 3]), torch.tensor([2, 3, 2, 3])] = new.flatten()
        return data


# IDX003 before
class Net(nn.Module):
    def forward(self, data, new):
        data = data.clone()
        data[torch.tensor([2, 3]), :, torch.tensor([1, 2])] = new
        return data


# IDX003 after
class Net(nn.Module):
    def forward(self, data, new):
        data = data.clone().transpose(1, 2)
        data[torch.tensor([2, 3]), torch.tensor([1, 2])] = new
        return data.transpose(1, 2)


# DTY002 before
class Net(nn.Module):
    def forward(self, x):
        return x + torch.linspace(0, 1, 4, dtype=torch.float64)


# DTY002 after
class Net(nn.Module):
    def forward(self, x):
        return x + torch.linspace(0, 1, 4, dtype=x.dtype)


# OPS003 before
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * x


class Net(nn.Module):
    def forward(self, x):
        return Square.apply(x)


# OPS003 after
class Net(nn.Module):
    def forward(self, x):
        return x * x


# CAL050 before
class Net(nn.Module):
    def forward(self, index):
        out = torch.zeros(index.shape[0], 5)
        return torch.scatter_(out, 1, index.unsqueeze(1), 1.0)


# CAL050 after
class Net(nn.Module):
    def forward(self, index):
        out = torch.zeros(index.shape[0], 5)
        return torch.scatter(out, 1, index.unsqueeze(1), 1.0)


# CAL051 before
net = nn.Linear(4, 2).cuda()
torch.onnx.export(net, (torch.rand(3, 4),), "net.onnx")


# CAL051 after
net = nn.Linear(4, 2).cuda()
torch.onnx.export(net, (torch.rand(3, 4, device="cuda"),), "net.onnx")


# CAL052 before
class Net(nn.Module):
    def forward(self, x, mask):
        return x * mask


torch.onnx.export(Net(), (torch.rand(3, 4),), "net.onnx")


# CAL052 after
class Net(nn.Module):
    def forward(self, x, mask):
        return x * mask


torch.onnx.export(Net(), (torch.rand(3, 4), torch.ones(3, 4)), "net.onnx")
