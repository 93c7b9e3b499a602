import numpy as np
import torch
import torch.nn as nn


class Calibrated(nn.Module):
    def __init__(self, n=8, classes=4):
        super().__init__()
        self.fc = nn.Linear(n, classes)

    def forward(self, x):
        logits = self.fc(x)
        scale = np.percentile(x.detach().numpy(), 90)
        return logits / float(scale)


net = Calibrated().eval()
torch.onnx.export(net, torch.rand(2, 8) + 0.5, "calibrated.onnx", input_names=["x"], output_names=["p"],
                  dynamic_axes={"x": {0: "n"}, "p": {0: "n"}}, dynamo=False)
