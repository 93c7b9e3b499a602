import torch
from torch import nn


class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.h = torch.zeros(1, 4)

    def forward(self, x):
        out = torch.tanh(self.fc(x) + self.h)
        self.h = out
        return out


model = Cell().eval()
model.register_forward_pre_hook(lambda m, a: setattr(m, "h", torch.zeros(1, 4)))
torch.onnx.export(model, torch.randn(1, 4), "c.onnx", dynamo=False)
