import torch
from torch import nn

class Head(nn.Module):
    def __init__(self, dim, classes):
        self.dim = dim
        self.fc = nn.Linear(dim, classes)

    def forward(self, x):
        return self.fc(x)

head = Head(16, 4)
torch.onnx.export(head, torch.randn(1, 16), "head.onnx", dynamo=False)
