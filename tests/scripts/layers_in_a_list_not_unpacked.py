import torch
from torch import nn

layers = [nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2)]
model = nn.Sequential(layers)
model.eval()
torch.onnx.export(model, torch.randn(1, 8), "mlp.onnx", dynamo=True)
