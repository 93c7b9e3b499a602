import torch
import torch.nn as nn
from torch.export import Dim


class Film(nn.Module):
    def __init__(self, c=4, d=6):
        super().__init__()
        self.to_scale = nn.Linear(d, c)

    def forward(self, features, condition):
        return features * self.to_scale(condition)[..., None]


n = Dim("n", min=2, max=128)
torch.onnx.export(
    Film().eval(),
    (torch.randn(3, 4, 9),),
    "film.onnx",
    kwargs={"condition": torch.randn(3, 6)},
    dynamic_shapes={"features": {0: n}, "cond": {0: n}},
    dynamo=True,
)
