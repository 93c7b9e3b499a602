import torch
import torch.nn as nn


class Embed(nn.Module):
    def __init__(self):
        super().__init__()
        self.e = nn.Embedding(9, 3)

    def forward(self, i):
        return self.e(i)


AXES = {"i": "batch", "e": "batch"}
torch.onnx.export(Embed().eval(), torch.tensor([1, 2, 3]), "embed.onnx", input_names=["i"], output_names=["e"],
                  dynamic_axes=AXES, dynamo=False)
