import torch
import torch.nn as nn


class Tokens(nn.Module):
    def __init__(self, patch=16, dim=24):
        super().__init__()
        self.unfold = nn.Unfold(kernel_size=patch, stride=patch)
        self.proj = nn.Linear(3 * patch * patch, dim)

    def forward(self, img):
        return self.proj(self.unfold(img).transpose(1, 2))


img = torch.rand(1, 3, 12, 12)
torch.onnx.export(Tokens().eval(), img, "tokens.onnx", opset_version=14, dynamo=False)
