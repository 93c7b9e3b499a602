import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(50, 8)

    def forward(self, tokens):
        if tokens.shape[1] > 64:
            raise ValueError("at most 64 tokens")
        if tokens.shape[1] > 8:
            x = self.embed(tokens)
        else:
            x = self.embed(tokens.clone())
        return x[:, :64]


tokens = torch.randint(0, 50, (2, 16))
torch.onnx.export(
    Encoder().eval(), (tokens,), "encoder.onnx", dynamo=False, input_names=["tokens"], output_names=["y"],
    dynamic_axes={"tokens": {0: "batch", 1: "length"}, "y": {0: "batch", 1: "length"}},
)
