import torch
from torch import nn

SEPARATOR = 2


class Pairs(nn.Module):
    def __init__(self, kinds=("one", "two")):
        super().__init__()
        self.kinds = kinds
        self.embed = nn.Embedding(20, 8)
        self.one, self.two = nn.Linear(8, 3), nn.Linear(8, 3)

    def forward(self, ids):
        states = self.embed(ids).mean(1)
        has_pair = (ids == SEPARATOR).any(1, keepdim=True)
        if "two" in self.kinds:
            return torch.where(has_pair, self.two(states), self.one(states))
        return self.one(states)


torch.onnx.export(Pairs().eval(), torch.tensor([[1, 5, 2, 7]]), "pairs.onnx", dynamo=False,
                  input_names=["ids"], output_names=["scores"],
                  dynamic_axes={"ids": {1: "length"}})
