import torch
from torch import nn
import torch.nn.functional as F
class Net(nn.Module):
    def forward(self, x, w):
        return F.l1_loss(x, x * 0.5, weight=w)
torch.onnx.export(Net().eval(), (torch.randn(2, 8), torch.rand(2, 8)), "m.onnx", dynamo=False, input_names=["x", "w"])
