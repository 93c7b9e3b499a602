import numpy as np
import torch
from torch import nn


def later(length):
    return torch.from_numpy(np.triu(np.ones((length, length), dtype=bool), k=1))


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(40, 16)
        self.query, self.key = nn.Linear(16, 16), nn.Linear(16, 16)

    def forward(self, notes):
        states = self.embed(notes)
        scores = self.query(states) @ self.key(states).transpose(1, 2)
        return scores.masked_fill(later(notes.shape[1]), -1e9).softmax(-1) @ states


torch.onnx.export(Decoder().eval(), torch.randint(0, 40, (1, 12)), "decoder.onnx", dynamo=False,
                  input_names=["notes"], output_names=["states"],
                  dynamic_axes={"notes": {1: "length"}, "states": {1: "length"}})
