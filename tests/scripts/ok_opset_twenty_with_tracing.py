import torch
import torch.nn as nn
import torch.nn.functional as F

OPSET = 20


class Warp(nn.Module):
    def forward(self, image, grid):
        return F.grid_sample(image, grid, mode="bilinear", padding_mode="zeros", align_corners=False)


torch.onnx.export(
    Warp(),
    (torch.rand(2, 3, 16, 16), torch.rand(2, 8, 8, 2) * 2 - 1),
    "warp.onnx",
    opset_version=OPSET,
    input_names=["image", "grid"],
    output_names=["warped"],
    dynamic_axes={"image": {0: "n"}, "grid": {0: "n"}, "warped": {0: "n"}},
    dynamo=False,
)
