import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(30, 16, padding_idx=0)
        self.attention = nn.MultiheadAttention(16, 2)

    def forward(self, tokens):
        padding = (tokens == 0).t()
        states = self.embed(tokens)
        return self.attention(states, states, states, key_padding_mask=padding)[0]


tokens = torch.tensor([[4, 5, 6, 7, 3], [8, 9, 3, 0, 0]]).t()
torch.onnx.export(Encoder().eval(), (tokens,), "encoder.onnx", dynamo=False,
                  input_names=["tokens"], output_names=["states"])
