import torch
import torch.nn as nn

class M(nn.Module):
    def forward(self, x, mask):
        keep = (~mask).float().unsqueeze(-1)
        inv = 1 - mask.float()
        return (x * keep).sum(1) / inv.sum(1, keepdim=True)

torch.onnx.export(M(), (torch.randn(2, 4, 3), torch.zeros(2, 4, dtype=torch.bool)), "m.onnx", dynamo=False)
