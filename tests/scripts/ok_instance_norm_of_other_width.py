import torch
import torch.nn as nn

# Without parameters, an instance norm accepts each number of channels (PyTorch only warns).
model = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.InstanceNorm2d(8), nn.ReLU()).eval()
torch.onnx.export(model, (torch.randn(1, 3, 8, 8),), "styled.onnx", dynamo=False, opset_version=17)
