import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(30, 16, padding_idx=0)
        layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)

    def forward(self, tokens):
        padding = tokens == 0
        return self.encoder(self.embed(tokens), src_key_padding_mask=padding)


tokens = torch.tensor([[4, 5, 6, 7, 0], [8, 9, 3, 0, 0]])
torch.onnx.export(Encoder().eval(), (tokens,), "encoder.onnx", dynamo=False,
                  input_names=["tokens"], output_names=["states"])
