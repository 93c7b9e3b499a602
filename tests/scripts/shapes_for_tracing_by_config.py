import torch
import torch.nn as nn
from torch.export import Dim

config = {
    "f": "tcn.onnx",
    "input_names": ["series"],
    "output_names": ["forecast"],
    "dynamic_shapes": {"series": {0: Dim("batch"), 2: Dim("time")}},
}


class TCN(nn.Module):
    def __init__(self, channels=4, k=3):
        super().__init__()
        self.pad = nn.ConstantPad1d((2 * (k - 1), 0), 0.0)
        self.conv = nn.Conv1d(channels, channels, k, dilation=2)

    def forward(self, series):
        return series + self.conv(self.pad(series))


use_dynamo = False  # the customer is on opset 11
torch.onnx.export(TCN().eval(), (torch.randn(2, 4, 20),), opset_version=11, dynamo=use_dynamo, **config)
