import torch
from torch import nn


class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)
        self.state = torch.zeros(1, 4)

    def reset(self, batch):
        self.state = torch.zeros(batch, 4)

    def forward(self, x):
        self.state = torch.tanh(self.fc(torch.cat([x, self.state], dim=1)))
        return self.state


class Sequence(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = Cell()

    def forward(self, x):
        self.cell.reset(x.size(0))
        return torch.stack([self.cell(x[:, t]) for t in range(3)], dim=1)


torch.onnx.export(Sequence().eval(), torch.randn(1, 3, 4), "sequence.onnx", dynamo=False)
