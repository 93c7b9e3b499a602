import torch
import torch.nn as nn


class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(3, 4), nn.Linear(5, 4)

    def forward(self, user, items):
        return self.b(items) @ self.a(user).unsqueeze(-1)


torch.onnx.export(Pair().eval(), (torch.rand(2, 3), torch.rand(2, 7, 5)), "pair.onnx", dynamo=True,
                  input_names=["user", "items"], output_names=["score"],
                  dynamic_axes={"items": {0: "n", 1: "k"}, "user": {0: "n"}})
