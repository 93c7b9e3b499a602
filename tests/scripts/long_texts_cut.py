import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(50, 8)

    def forward(self, tokens):
        x = self.embed(tokens)
        if x.shape[1] > 64:
            x = x[:, :64]
        return x


tokens = torch.randint(0, 50, (2, 16))
torch.onnx.export(
    Encoder().eval(), (tokens,), "encoder.onnx", dynamo=False, input_names=["tokens"], output_names=["y"],
    dynamic_axes={"tokens": {0: "batch", 1: "length"}, "y": {0: "batch", 1: "length"}},
)
