import torch
from torch import nn


class Boxes(nn.Module):
    def forward(self, image, boxes):
        height, width = image.shape[-2:]
        return boxes * torch.tensor([width, height, width, height], dtype=torch.float32)


torch.onnx.export(
    Boxes(),
    (torch.randn(1, 3, 64, 96), torch.rand(5, 4)),
    "boxes.onnx",
    input_names=["image", "boxes"],
    dynamic_axes={"image": {0: "batch"}, "boxes": {0: "boxes"}},
    dynamo=False,
)
