import torch
import torch.nn as nn

class Pointer(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.q = nn.Linear(d, d)
        self.k = nn.Linear(d, d)

    def forward(self, x, mask):
        scores = self.q(x) @ self.k(x).transpose(1, 2)
        scores = scores.masked_fill(mask.unsqueeze(1), -1e9)
        return scores.softmax(-1)

torch.onnx.export(Pointer(16).eval(), (torch.randn(2, 5, 16), torch.ones(2, 5)), "ptr.onnx", dynamo=False)
