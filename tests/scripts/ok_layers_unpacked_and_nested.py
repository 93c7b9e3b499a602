import torch
from torch import nn


def block(width, last=None):
    layers = [nn.Linear(width, width), nn.ReLU()]
    if last:
        layers.append(last)
    return nn.Sequential(*layers)


class Stack(nn.Sequential):
    def __init__(self, *widths):
        super().__init__(*[block(width, nn.Dropout(0.0)) for width in widths])


model = nn.Sequential(Stack(8, 8), block(8), nn.ModuleList([nn.Flatten()])[0])
model.eval()
torch.onnx.export(model, torch.randn(1, 8), "stack.onnx", dynamo=False)
