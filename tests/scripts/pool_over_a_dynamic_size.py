import torch
import torch.nn.functional as F
from torch import nn


class Squeeze(nn.Module):
    def __init__(self, channels=8):
        super().__init__()
        self.conv = nn.Conv2d(3, channels, 3, padding=1)
        self.gate = nn.Conv2d(channels, channels, 1)

    def forward(self, x):
        x = self.conv(x)
        pooled = F.avg_pool2d(x, kernel_size=x.size()[2:])
        return x * self.gate(pooled).sigmoid()


torch.onnx.export(
    Squeeze().eval(), (torch.randn(1, 3, 16, 16),), "squeeze.onnx", dynamo=False, input_names=["x"],
    output_names=["y"], dynamic_axes={"x": {0: "batch", 2: "height", 3: "width"}},
)
