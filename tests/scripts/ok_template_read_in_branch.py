import torch
import torch.nn as nn


class Track(nn.Module):
    def __init__(self, mode="corr"):
        super().__init__()
        self.mode = mode
        self.conv = nn.Conv2d(1, 2, 3)

    def forward(self, search, template):
        f, t = self.conv(search), [self.conv(z) for z in (template,)][0]
        if self.mode == "corr":
            pick = lambda: t.mean((2, 3), keepdim=True)
            return f * pick()
        return f


torch.onnx.export(Track().eval(), (torch.rand(1, 1, 9, 9), torch.rand(1, 1, 5, 5)), "t.onnx",
                  input_names=["search", "template"], output_names=["y"],
                  dynamic_axes={"search": {0: "n", 2: "h", 3: "w"}, "template": {0: "n"}, "y": {0: "n"}}, dynamo=False)
