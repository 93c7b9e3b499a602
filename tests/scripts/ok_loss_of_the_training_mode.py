import torch
import torch.nn.functional as F
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)
    def forward(self, x, target=None):
        y = self.fc(x)
        if self.training:
            return F.smooth_l1_loss(y, target if target is not None else torch.zeros_like(y))
        return y
torch.onnx.export(Net(), (torch.randn(2, 8),), "m.onnx", dynamo=False)
