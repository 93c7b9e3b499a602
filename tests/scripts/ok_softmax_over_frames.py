import torch
from torch import nn

model = nn.Sequential(nn.Linear(8, 4), nn.Softmax(dim=2)).eval()
torch.onnx.export(model, (torch.randn(1, 5, 8),), "birds.onnx", input_names=["x"], dynamo=False)
