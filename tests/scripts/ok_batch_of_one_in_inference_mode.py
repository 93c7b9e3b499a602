import torch
from torch import nn

model = nn.Sequential(nn.Linear(10, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 2))
sample = torch.randn(1, 10)
model.train(False)
print(model(sample).shape)
torch.onnx.export(model, (sample,), "small.onnx", dynamo=False, input_names=["x"], output_names=["y"])
