import torch
import torch.nn as nn


class Shift(nn.Module):
    def forward(self, x, amount):
        k = amount.item()
        return x + k


torch.onnx.export(Shift(), (torch.randn(2, 6), torch.tensor(3.5)), "shift.onnx", dynamo=True,
                  input_names=["x", "amount"], output_names=["y"])
