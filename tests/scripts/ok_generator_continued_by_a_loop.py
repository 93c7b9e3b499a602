import torch
from torch import nn

net = nn.Linear(8, 4)
def dims():
    yield "name"
    yield 8
    yield 8
g = dims()
print(next(g))
for d in g:
    y = net(torch.randn(1, d))
torch.onnx.export(net.eval(), (torch.randn(1, 8),), "a.onnx", dynamo=False)
