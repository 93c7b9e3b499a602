import torch
from torch import nn

sizes = [8, 9, 10]
net = nn.Linear(8, 4)
def runs():
    for s in sizes:
        yield net(torch.randn(1, s))
y = next(runs())
torch.onnx.export(net.eval(), (torch.randn(1, 8),), "a.onnx", dynamo=False)
