import torch
from torch import nn


class Stream(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(3, 3, 5)
        self.register_buffer("past", torch.zeros(1, 3, 4))

    def forward(self, x):
        whole = torch.cat([self.past, x], dim=2)
        self.past = whole[:, :, -4:].detach()
        return self.conv(whole)


torch.onnx.export(Stream().eval(), torch.randn(1, 3, 8), "stream.onnx", input_names=["x"], dynamo=False)
