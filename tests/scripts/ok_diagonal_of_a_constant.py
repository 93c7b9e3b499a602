import torch
from torch import nn
class Net(nn.Module):
    def forward(self, x):
        return torch.diag(torch.ones(3)) @ x
torch.onnx.export(Net().eval(), (torch.randn(3, 4),), "m.onnx", dynamo=False, input_names=["x"])
