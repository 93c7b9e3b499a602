import torch
import torch.nn as nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(4, 6, bidirectional=True, batch_first=True)

    def forward(self, x, return_state=False):
        y, h = self.gru(x)
        if return_state:
            return y, h
        return y


torch.onnx.export(Encoder().eval(), torch.randn(2, 7, 4), "encoder.onnx", input_names=["x"], output_names=["y", "h"],
                  dynamic_axes={"x": {0: "b", 1: "t"}, "y": {0: "b", 1: "t"}, "h": {1: "b"}}, dynamo=False)
