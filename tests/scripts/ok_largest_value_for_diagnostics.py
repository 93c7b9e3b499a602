import torch
from torch import nn


class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.count = torch.zeros(1)
        self.max_seen = torch.zeros(4)
        self.cast = torch.ones(4)
    def forward(self, x):
        y = self.fc(x) * self.cast
        self.count = self.count + 1
        if self.count.shape[0] > 1:
            y = y * self.max_seen
        with torch.no_grad():
            self.max_seen = torch.maximum(self.max_seen, y.abs().amax(0))
        self.cast = self.cast.to(y)
        return y


torch.onnx.export(M().eval(), torch.randn(1, 4), "b.onnx", dynamo=False)
