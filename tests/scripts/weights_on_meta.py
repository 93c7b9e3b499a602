import torch
import torch.nn as nn


class Wide(nn.Module):
    def __init__(self, n=64):
        super().__init__()
        self.up = nn.Linear(n, 4 * n)
        self.down = nn.Linear(4 * n, n)

    def forward(self, x):
        return self.down(torch.nn.functional.gelu(self.up(x)))


# no memory for the weights while the graph is built
with torch.device("meta"):
    wide = Wide()
wide.eval()
x = torch.randn(2, 64)
torch.onnx.export(wide, (x,), "wide.onnx", input_names=["x"], output_names=["y"], dynamo=False)
