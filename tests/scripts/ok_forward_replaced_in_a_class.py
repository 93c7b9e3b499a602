import torch
from torch import nn
def plain(self, x):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight
nn.RMSNorm.forward = plain
net = nn.Sequential(nn.Linear(8, 8), nn.RMSNorm(8))
torch.onnx.export(net.eval(), (torch.randn(2, 8),), "m.onnx", dynamo=False, input_names=["x"])
