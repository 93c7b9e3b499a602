import torch
import torch.nn as nn


class Pad(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x, lengths):
        longest = lengths.max().item()
        rows = self.fc(x)[:, :longest]
        if rows.shape[1] > 3:
            rows = rows * 0.5
        return rows.sum(1)


torch.onnx.export(Pad().eval(), (torch.randn(2, 6, 4), torch.tensor([5, 3])), "pad.onnx", dynamo=True,
                  input_names=["x", "lengths"], output_names=["y"])
