import numpy as np
import torch
import torch.nn as nn


class Channels(nn.Module):
    def __init__(self, c=6):
        super().__init__()
        self.fc = nn.Linear(c * 4, 5)

    def forward(self, x):
        c = int(x.shape[1])
        rest = int(np.prod(list(x.shape[2:])))
        scale = 1.0 / float(c) ** 0.5
        return self.fc(x.reshape(-1, c * rest) * scale)


torch.onnx.export(Channels().eval(), torch.randn(3, 6, 2, 2), "channels.onnx", input_names=["x"], output_names=["y"],
                  dynamic_axes={"x": {0: "n"}, "y": {0: "n"}}, dynamo=False)
