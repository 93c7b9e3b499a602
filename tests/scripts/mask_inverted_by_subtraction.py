import torch
import torch.nn as nn

class MaskedMean(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.proj = nn.Linear(dim, dim)

    def forward(self, x, padding_mask):
        keep = 1 - padding_mask
        h = self.proj(x) * keep.unsqueeze(-1)
        return h.sum(1) / keep.sum(1, keepdim=True)

model = MaskedMean(8).eval()
x = torch.randn(2, 6, 8)
mask = torch.zeros(2, 6, dtype=torch.bool)
torch.onnx.export(model, (x, mask), "mean.onnx", dynamo=False)
