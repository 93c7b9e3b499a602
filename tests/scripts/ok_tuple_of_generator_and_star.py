import torch
import torch.nn as nn


class Sum(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(k + 1, 3) for k in range(n)])

    def forward(self, *inputs):
        return torch.stack([layer(x) for layer, x in zip(self.layers, inputs)]).sum(0)


N = 3
example = tuple(torch.randn(2, k + 1) for k in range(N))
call = (Sum(N).eval(), example, "sum.onnx")
names = [f"x{k}" for k in range(N)]
torch.onnx.export(*call, input_names=names, output_names=["y"], dynamo=False,
                  dynamic_axes={name: {0: "n"} for name in names + ["y"]})
