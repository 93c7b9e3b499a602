import torch
import torch.nn as nn

REGISTRY = {}


def register(cls):
    REGISTRY[cls.__name__.lower()] = cls
    return cls


@register
class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        return self.fc(x)


model = REGISTRY["mlp"]
torch.onnx.export(model, torch.rand(1, 3), "m.onnx", dynamo=False)
