import torch
import torch.nn.functional as F
from torch import nn


class Unet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Conv1d(2, 4, 4, 2, 1)
        self.up = nn.ConvTranspose1d(4, 4, 4, 2, 1)

    def forward(self, x):
        n = x.size(-1)
        x = F.pad(x, (0, 1)) if n % 2 else x
        return torch.cat([self.up(self.down(x)), x], 1)[..., :n]


torch.onnx.export(Unet().eval(), torch.randn(1, 2, 32), "unet.onnx", input_names=["x"], output_names=["y"],
                  dynamic_axes={"x": {2: "n"}, "y": {2: "n"}}, dynamo=False)
