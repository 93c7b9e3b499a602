import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(2, 4, 4, 2, 1)
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        n = x.size(-1)
        if n < 2:
            raise ValueError("too short")
        if n % 2 == 1:
            print("an odd length", n)
        x = F.pad(x, (0, -n % 2))
        y = self.conv(x).transpose(1, 2)
        # Both branches compute the same.
        if y.size(1) % 8 == 0:
            parts = [self.fc(part) for part in y.chunk(2, 0)] if y.size(0) > 1 else [self.fc(y)]
            return torch.cat(parts)
        return self.fc(y)


torch.onnx.export(Net().eval(), torch.randn(1, 2, 32), "net.onnx", input_names=["x"], output_names=["y"],
                  dynamic_axes={"x": {2: "n"}, "y": {1: "m"}}, dynamo=False)
