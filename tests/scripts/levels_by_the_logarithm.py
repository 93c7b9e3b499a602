import math

import torch
from torch import nn


class Pyramid(nn.Module):
    def forward(self, signal):
        total = signal.mean(-1)
        for _ in range(int(math.log2(signal.shape[-1]))):
            signal = (signal[..., 0::2] - signal[..., 1::2]) * 0.5
            total = total + signal.abs().mean(-1)
        return total


torch.onnx.export(Pyramid().eval(), torch.randn(1, 3, 64), "pyramid.onnx", dynamo=False,
                  input_names=["signal"], output_names=["energy"],
                  dynamic_axes={"signal": {2: "samples"}})
