import torch
import torch.nn as nn


class Rnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(3, 5)

    def forward(self, x):
        h = x.new_zeros(x.shape[0], 5)
        states = []
        for t in range(x.shape[1]):
            h = self.cell(x[:, t], h)
            states.append(h)
        return torch.stack(states, 1)


torch.onnx.export(Rnn().eval(), torch.rand(2, 6, 3), "rnn.onnx", input_names=["x"], output_names=["h"],
                  dynamic_axes={"x": {0: "n", 1: "t"}, "h": {0: "n", 1: "t"}}, dynamo=False)
