import torch
from torch import nn


class Boxes(nn.Module):
    def forward(self, image, boxes):
        height, width = image.shape[-2:]
        sizes = torch.stack([torch.as_tensor(n) for n in (width, height, width, height)])
        return boxes * sizes.to(torch.float32)


torch.onnx.export(
    Boxes(),
    (torch.randn(1, 3, 64, 96), torch.rand(5, 4)),
    "boxes.onnx",
    input_names=["image", "boxes"],
    dynamic_axes={"image": {2: "height", 3: "width"}},
    dynamo=False,
)
