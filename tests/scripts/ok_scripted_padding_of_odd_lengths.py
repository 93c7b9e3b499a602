import torch
from torch import nn


@torch.jit.script
def pad_odd(x):
    if x.size(-1) % 2 == 1:
        x = torch.nn.functional.pad(x, (0, 1))
    return x


class W(nn.Module):
    def __init__(self):
        super().__init__()
        self.pool = nn.Conv1d(2, 2, 2, 2)
    def forward(self, x):
        return self.pool(pad_odd(x))


torch.onnx.export(W().eval(), torch.randn(1, 2, 8), "w.onnx", input_names=["x"], output_names=["y"], dynamic_axes={"x": {2: "n"}, "y": {2: "m"}}, dynamo=False)
