import torch
import torch.nn as nn
import onnx


class UnitLength(nn.Module):
    def __init__(self, axis):
        super().__init__()
        self.axis = axis

    def forward(self, v):
        return v / torch.norm(v, dim=self.axis, keepdim=True)


class UnitLengthLinalg(nn.Module):
    def forward(self, v):
        return v / torch.linalg.norm(v, dim=1, keepdim=True)


first = nn.Sequential(nn.Linear(6, 9), UnitLength(axis=1), nn.ReLU())
try:
    v = torch.randn(1, 6)
    torch.onnx.export(first, v, "first.onnx")
except RuntimeError as error:
    print(f"no export: {error}")

second = nn.Sequential(nn.Linear(6, 9), UnitLengthLinalg(), nn.ReLU())
v = torch.randn(1, 6)
torch.onnx.export(second, v, "second.onnx", opset_version=14)
