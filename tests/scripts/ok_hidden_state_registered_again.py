import torch
from torch import nn


class Cell(nn.Module):
    def __init__(self, hidden=4):
        super().__init__()
        self.fc = nn.Linear(4, hidden)
        self.hidden = hidden
        self.init_hidden()

    def init_hidden(self, batch=1):
        self.register_buffer("h", torch.zeros(batch, self.hidden), persistent=False)

    def forward(self, x):
        h = torch.tanh(self.fc(x) + self.h)
        self.h = h
        return h


model = Cell().eval()
for x in torch.randn(3, 1, 4):
    model.init_hidden(1)
    print(model(x))
model.init_hidden()
torch.onnx.export(model, torch.randn(1, 4), "c.onnx", dynamo=False)
