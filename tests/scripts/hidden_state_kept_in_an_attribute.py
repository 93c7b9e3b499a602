import torch
from torch import nn


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(4, 8)
        self.state = torch.zeros(1, 8)

    def forward(self, x):
        self.state = self.cell(x, self.state)
        return self.state.tanh()


policy = Policy().eval()
with torch.no_grad():
    torch.onnx.export(policy, (torch.randn(1, 4),), "policy.onnx", dynamo=False)
