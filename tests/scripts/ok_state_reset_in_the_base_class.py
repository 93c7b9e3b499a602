import torch
from torch import nn


class Stateful(nn.Module):
    def __init__(self):
        super().__init__()
        self.h = torch.zeros(1, 4)

    def reset(self):
        self.h = torch.zeros(1, 4)


class Cell(Stateful):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)

    def forward(self, x):
        self.h = torch.tanh(self.fc(torch.cat([x, self.h], 1)))
        return self.h


model = Cell().eval()
for sequence in torch.randn(3, 2, 1, 4):
    model.reset()
    for step in sequence:
        print(model(step).sum())
model.reset()
torch.onnx.export(model, torch.randn(1, 4), "cell.onnx", input_names=["x"], dynamo=False)
