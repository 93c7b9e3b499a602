import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.register_buffer("table", torch.arange(4.0))
        self.register_buffer("mean", torch.zeros(4))
        self.mask = torch.ones(2, 2).tril()
        self.last = torch.zeros(1)
        self.total = torch.zeros(())
        self.hidden = torch.zeros(1, 4)

    def forward(self, x):
        # The same values on another device.
        self.table = self.table.to(x.device)
        # Only the shape of the old mask decides.
        if self.mask.size(0) != x.size(1):
            self.mask = torch.ones(x.size(1), x.size(1), device=x.device).tril()
        if self.training:
            self.mean = 0.9 * self.mean + 0.1 * x.mean((0, 1))
        # Statistics that no output depends on.
        self.total = self.total + x.abs().sum()
        # Written before it is read.
        self.hidden = torch.zeros(x.size(0), 4)
        for t in range(2):
            self.hidden = self.fc(x[:, t] + self.hidden)
        y = self.mask @ self.fc(x - self.mean) * self.table
        self.last = y
        return self.last + self.hidden[:, None]


torch.onnx.export(Block().eval(), torch.randn(1, 3, 4), "block.onnx", dynamo=False)
