import torch
from torch import nn

class Ignoring:
    def __enter__(self): return self
    def __exit__(self, t, e, tb): return True
net = nn.Linear(8, 4)
with Ignoring():
    net(torch.randn(1, 9))
torch.onnx.export(net.eval(), (torch.randn(1, 8),), "a.onnx", dynamo=False)
