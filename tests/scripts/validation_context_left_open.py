import contextlib

import torch
import torch.nn as nn


class Noise2Noise(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv2d(1, 8, 3, padding=1)
        self.c2 = nn.Conv2d(8, 1, 3, padding=1)

    def forward(self, x):
        return x - self.c2(torch.relu(self.c1(x)))


def amp(enabled):
    return torch.autocast(device_type="cpu", dtype=torch.bfloat16) if enabled else contextlib.nullcontext()


net = Noise2Noise().eval()
x = torch.rand(2, 1, 16, 16)
with amp(enabled=True):
    print("loss", float((net(x) - x).abs().mean()))
    torch.onnx.export(net, (x,), "n2n.onnx", input_names=["x"], output_names=["y"], dynamo=True,
                      dynamic_shapes=({0: "batch"},))
