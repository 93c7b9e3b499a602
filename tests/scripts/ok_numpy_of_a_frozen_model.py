import torch
from torch import nn

model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)).eval()
for parameter in model.parameters():
    parameter.requires_grad = False
x = torch.randn(1, 4)
torch.onnx.export(model, x, "frozen.onnx", dynamo=False)
print(model(x).numpy())
