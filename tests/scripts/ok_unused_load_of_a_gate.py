import torch
from torch import nn
import torch.nn.functional as F
class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)
    def forward(self, x):
        p = self.fc(x).softmax(-1)
        load = torch.count_nonzero(p > 0.1, dim=0)
        return p, load
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = Gate()
    def forward(self, x):
        p, _ = self.gate(x)
        return p
torch.onnx.export(Net().eval(), (torch.randn(2, 8),), "m.onnx", dynamo=False, input_names=["x"])
