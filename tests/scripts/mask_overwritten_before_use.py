import torch
import torch.nn as nn


class Pool(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(5, 5)

    def forward(self, x, mask):
        h = self.fc(x).tanh()
        mask = torch.ones_like(h)
        return (h * mask).mean(1)


torch.onnx.export(Pool().eval(), (torch.randn(2, 6, 5), torch.ones(2, 6)), "pool.onnx", input_names=["x", "mask"],
                  output_names=["y"], dynamic_axes={"x": {0: "b"}, "mask": {0: "b"}, "y": {0: "b"}}, dynamo=False)
