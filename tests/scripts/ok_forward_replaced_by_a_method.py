import types

import torch
import torch.nn as nn


class Probe(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        self.seen = self.fc(x)


def scored(self, x):
    return self.fc(x).softmax(dim=-1)


probe = Probe().eval()
probe.forward = types.MethodType(scored, probe)
torch.onnx.export(
    probe, (torch.randn(2, 3),), "probe.onnx", dynamo=False,
    input_names=["x"], output_names=["p"], dynamic_axes={"x": {0: "n"}, "p": {0: "n"}},
)
