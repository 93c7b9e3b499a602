"""Faulty and corrected PyTorch code, which the pages of the rules show.

Each snippet starts with a comment that names its rule, such as EXP001. A test lints each snippet separately, below the
imports of this file. The test checks that the rule finds the fault in the snippet `before`, unless the fault is visible
only in the exported model, and that the snippet `after` has no findings.
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


# CAL001 before
net = nn.Linear(4, 2).eval()
torch.onnx.export(net, (torch.rand(3, 4),), "net.onnx", enable_onnx_checker=True, dynamo=False)


# CAL001 after
net = nn.Linear(4, 2).eval()
torch.onnx.export(net, (torch.rand(3, 4),), "net.onnx", dynamo=False)


# CAL002 before
net = nn.Linear(4, 2).eval()
torch.onnx.export(net, (torch.rand(3, 4),), "net.onnx", verify=True, dynamo=False)


# CAL002 after
net = nn.Linear(4, 2).eval()
torch.onnx.export(net, (torch.rand(3, 4),), "net.onnx", verify=True, dynamo=True)


# CAL003 before
net = nn.Linear(4, 2).eval()
torch.onnx.export(net, (torch.rand(3, 4),), "net.onnx", input_names="rows", dynamo=False)


# CAL003 after
net = nn.Linear(4, 2).eval()
torch.onnx.export(net, (torch.rand(3, 4),), "net.onnx", input_names=["rows"], dynamo=False)


# CAL004 before
net = nn.Linear(4, 2).eval()
torch.onnx.export(net, (torch.rand(3, 4),), "net.onnx", opset_version=25, dynamo=False)


# CAL004 after
net = nn.Linear(4, 2).eval()
torch.onnx.export(net, (torch.rand(3, 4),), "net.onnx", opset_version=20, dynamo=False)


# CAL005 before
class Net(nn.Module):
    def forward(self, x):
        return x.relu()


torch.onnx.export(Net, (torch.rand(3, 4),), "net.onnx")


# CAL005 after
class Net(nn.Module):
    def forward(self, x):
        return x.relu()


torch.onnx.export(Net(), (torch.rand(3, 4),), "net.onnx")


# CAL006 before
net = nn.DataParallel(nn.Linear(4, 2).eval())
torch.onnx.export(net, (torch.rand(3, 4),), "net.onnx", dynamo=False)


# CAL006 after
net = nn.DataParallel(nn.Linear(4, 2).eval())
torch.onnx.export(net.module, (torch.rand(3, 4),), "net.onnx", dynamo=False)


# CAL007 before
net = nn.Linear(4, 2).eval()
with torch.autocast("cpu"):
    torch.onnx.export(net, (torch.rand(3, 4),), "net.onnx")


# CAL007 after
net = nn.Linear(4, 2).eval()
torch.onnx.export(net, (torch.rand(3, 4),), "net.onnx")


# CAL008 before
net = nn.Conv1d(4, 2, 1).double().eval()
torch.onnx.export(net, (torch.rand(3, 4, 5, dtype=torch.float64),), "net.onnx")


# CAL008 after
net = nn.Conv1d(4, 2, 1).eval()
torch.onnx.export(net, (torch.rand(3, 4, 5),), "net.onnx")


# CAL009 before
net = nn.Linear(4, 2).eval()
torch.onnx.export(net, (torch.rand(3, 4),), "net.onnx", export_params=False)


# CAL009 after
net = nn.Linear(4, 2).eval()
torch.onnx.export(net, (torch.rand(3, 4),), "net.onnx")


# CAL010 before
for width in [4, 8]:
    net = nn.Linear(width, 2).eval()
    torch.onnx.export(net, (torch.rand(3, width),), "net.onnx")


# CAL010 after
for width in [4, 8]:
    net = nn.Linear(width, 2).eval()
    torch.onnx.export(net, (torch.rand(3, width),), f"net_{width}.onnx")


# CAL012 before
net = nn.Linear(4, 2).eval()
rows = torch.export.Dim("rows")
program = torch.export.export(net, (torch.rand(1, 4),), dynamic_shapes=({0: rows},))


# CAL012 after
net = nn.Linear(4, 2).eval()
rows = torch.export.Dim("rows")
program = torch.export.export(net, (torch.rand(2, 4),), dynamic_shapes=({0: rows},))


# CAL013 before
net = nn.Linear(4, 2).eval()
rows = torch.export.Dim("rows", min=2, max=8)
torch.onnx.export(net, (torch.rand(9, 4),), "net.onnx", dynamic_shapes=({0: rows},))


# CAL013 after
net = nn.Linear(4, 2).eval()
rows = torch.export.Dim("rows", min=2, max=16)
torch.onnx.export(net, (torch.rand(9, 4),), "net.onnx", dynamic_shapes=({0: rows},))


# CAL014 before
net = nn.Linear(4, 2).eval()
torch.onnx.export(
    net, (torch.rand(3, 4),), "net.onnx", input_names=["x"], dynamic_axes={"input": {0: "rows"}}, dynamo=False
)


# CAL014 after
net = nn.Linear(4, 2).eval()
torch.onnx.export(
    net, (torch.rand(3, 4),), "net.onnx", input_names=["x"], dynamic_axes={"x": {0: "rows"}}, dynamo=False
)


# CAL015 before
net = nn.Linear(4, 2).eval()
torch.onnx.export(
    net, (torch.rand(3, 4),), "net.onnx", input_names=["x"], dynamic_axes={"x": {2: "rows"}}, dynamo=False
)


# CAL015 after
net = nn.Linear(4, 2).eval()
torch.onnx.export(
    net, (torch.rand(3, 4),), "net.onnx", input_names=["x"], dynamic_axes={"x": {0: "rows"}}, dynamo=False
)


# CAL016 before
class Net(nn.Module):
    def forward(self, x, mask):
        return x * mask.unsqueeze(2)


example = (torch.rand(2, 3, 4), torch.ones(2, 3))
axes = {"mask": {0: "batch"}, "x": {0: "batch", 2: "features"}}
torch.onnx.export(Net(), example, "net.onnx", input_names=["x", "mask"], dynamic_axes=axes, dynamo=True)


# CAL016 after
class Net(nn.Module):
    def forward(self, x, mask):
        return x * mask.unsqueeze(2)


example = (torch.rand(2, 3, 4), torch.ones(2, 3))
axes = {"x": {0: "batch", 2: "features"}, "mask": {0: "batch"}}
torch.onnx.export(Net(), example, "net.onnx", input_names=["x", "mask"], dynamic_axes=axes, dynamo=True)


# CAL017 before
net = nn.Linear(4, 2).eval()
torch.onnx.export(net, (torch.rand(3, 4),), "net.onnx", output_names=["y", "z"], dynamo=False)


# CAL017 after
net = nn.Linear(4, 2).eval()
torch.onnx.export(net, (torch.rand(3, 4),), "net.onnx", output_names=["y"], dynamo=False)


# CAL018 before
net = nn.Linear(4, 2).eval()
torch.onnx.export(net, [torch.rand(3, 4)], "net.onnx")


# CAL018 after
net = nn.Linear(4, 2).eval()
torch.onnx.export(net, (torch.rand(3, 4),), "net.onnx")


# CAL019 before
class Net(nn.Module):
    def forward(self, x, scale):
        return x * scale


torch.onnx.export(Net(), (torch.rand(3, 4), 0.5), "net.onnx", dynamo=True)


# CAL019 after
class Net(nn.Module):
    def forward(self, x, scale):
        return x * scale


torch.onnx.export(Net(), (torch.rand(3, 4), torch.tensor(0.5)), "net.onnx", dynamo=True)


# CAL020 before
class Net(nn.Module):
    def forward(self, x, mask):
        return x.relu()


torch.onnx.export(Net(), (torch.rand(3, 4), torch.ones(3, 4)), "net.onnx", dynamo=False)


# CAL020 after
class Net(nn.Module):
    def forward(self, x, mask):
        return x.relu() * mask


torch.onnx.export(Net(), (torch.rand(3, 4), torch.ones(3, 4)), "net.onnx", dynamo=False)


# CAL021 before
class Net(nn.Module):
    def forward(self, x):
        low, high = x.amin(1), x.amax(1)
        return low, high


torch.onnx.export(Net(), (torch.rand(3, 4),), "net.onnx", output_names=["high", "low"])


# CAL021 after
class Net(nn.Module):
    def forward(self, x):
        low, high = x.amin(1), x.amax(1)
        return low, high


torch.onnx.export(Net(), (torch.rand(3, 4),), "net.onnx", output_names=["low", "high"])


# CAL022 before
class Net(nn.Module):
    def forward(self, x, mask):
        return x * mask


example = (torch.rand(3, 4), torch.ones(3, 4))
torch.onnx.export(Net(), example, "net.onnx", input_names=["mask", "x"])


# CAL022 after
class Net(nn.Module):
    def forward(self, x, mask):
        return x * mask


example = (torch.rand(3, 4), torch.ones(3, 4))
torch.onnx.export(Net(), example, "net.onnx", input_names=["x", "mask"])


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
