import torch
from torch import nn

net = nn.Linear(8, 4)
cfg = {"dim": 9}
def inputs():
    for i in range(2):
        yield torch.randn(1, cfg["dim"])
it = inputs()
cfg["dim"] = 8
for x in it:
    y = net(x)
torch.onnx.export(net.eval(), (torch.randn(1, 8),), "a.onnx", dynamo=False)
