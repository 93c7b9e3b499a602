import torch
import torch.nn as nn
import torch.nn.functional as F


def pad_to(x, multiple):
    h = x.shape[2]
    target = h
    target += multiple - 1
    target = target // multiple * multiple
    return F.pad(x, (0, 0, 0, target - h)), h


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 1, 3, padding=1)

    def forward(self, x):
        y, h = pad_to(x, 8)
        return self.conv(y)[:, :, :h]


torch.onnx.export(Net().eval(), torch.rand(1, 1, 13, 6), "padded.onnx", input_names=["x"], output_names=["y"],
                  dynamic_axes={"x": {0: "n", 2: "h"}, "y": {0: "n", 2: "h"}}, dynamo=False)
