import torch
import torch.nn as nn


class EarlyExit(nn.Module):
    def __init__(self):
        super().__init__()
        self.stage1, self.stage2 = nn.Linear(6, 6), nn.Linear(6, 6)
        self.exit1, self.exit2 = nn.Linear(6, 3), nn.Linear(6, 3)

    def forward(self, x):
        h = self.stage1(x).relu()
        early = self.exit1(h)
        if early.softmax(-1).max() > 0.6:
            return early
        return self.exit2(self.stage2(h).relu())


torch.manual_seed(1)
model = EarlyExit().eval()
torch.onnx.export(model, 20 * torch.ones(1, 6), "early.onnx", input_names=["x"], output_names=["y"],
                  dynamic_axes={"x": {0: "n"}, "y": {0: "n"}}, dynamo=False)
