import torch
from torch import nn
class Net(nn.Module):
    def forward(self, x):
        return torch.kron(x, x)
x = torch.randn(4, 4)
try:
    torch.onnx.export(Net(), (x,), "m.onnx", dynamo=False)
except Exception:
    torch.onnx.export(Net(), (x,), "m.onnx", dynamo=True)
