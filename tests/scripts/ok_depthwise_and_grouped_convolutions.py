import torch
import torch.nn as nn


def separable(cin, cout, k=3, stride=1):
    return nn.Sequential(
        nn.Conv2d(cin, cin, k, stride=stride, padding=k // 2, groups=cin, bias=False),
        nn.Conv2d(cin, cout, 1),
        nn.GroupNorm(4, cout),
        nn.ReLU6(),
    )


class Slim(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.Sequential(separable(4, 8), separable(8, 16, stride=2), nn.Conv2d(16, 32, 1, groups=4),
                                    nn.ConvTranspose2d(32, 4, 2, stride=2))

    def forward(self, x):
        return x + self.blocks(x)


torch.onnx.export(Slim().eval(), torch.rand(1, 4, 12, 12), "slim.onnx", opset_version=18, dynamo=False,
                  input_names=["x"], output_names=["y"], dynamic_axes={"x": {0: "n"}, "y": {0: "n"}})
