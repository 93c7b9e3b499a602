import torch
import yaml
from torch import nn

TEXT = """
model:
  channels: 3   # R, G, B
  widths: [8, 16]
export:
  size: 32
  file: 'land.onnx'
"""


class Land(nn.Module):
    def __init__(self, channels, widths):
        super().__init__()
        layers = []
        for width in widths:
            layers += [nn.Conv2d(channels, width, 3, padding=1), nn.ReLU()]
            channels = width
        self.layers = nn.Sequential(*layers)

    def forward(self, x):
        return self.layers(x)


config = yaml.safe_load(TEXT)
model = Land(config["model"]["channels"], config["model"]["widths"]).eval()
size = config["export"]["size"]
torch.onnx.export(model, (torch.zeros(1, 3, size, size),), "land.onnx", input_names=["x"], dynamo=False)
