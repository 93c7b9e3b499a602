import torch
from torch import nn


def write(net: nn.Module, target: str) -> None:
    with open(target, "w") as out:
        torch.onnx.export(net, torch.rand(3, 6), out, input_names=["rows"],
                          dynamic_axes={"rows": {0: "n"}}, dynamo=False)


write(nn.Linear(6, 2).eval(), "scores.onnx")
