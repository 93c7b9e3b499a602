import torch
import torch.nn as nn


class Memory(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(4, 6)

    def forward(self, x, h):
        h = self.cell(x, h)
        return h


torch.onnx.export(Memory().eval(), (torch.rand(2, 4), torch.zeros(2, 6)), "memory.onnx",
                  input_names=["x", "h"], output_names=["y", "h_next"], dynamo=False)
