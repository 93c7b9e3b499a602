import torch
import torch.nn as nn


class Crop(nn.Module):
    def __init__(self):
        super().__init__()
        self.c = nn.Conv2d(3, 2, 3)

    def forward(self, image, bias):
        return self.c(image) + bias.view(-1, 2, 1, 1)


dynamic_axes = {
    "bias": {0: "batch"},
    "image": {0: "batch", 2: "height", 3: "width"},
}
torch.onnx.export(Crop().eval(), (torch.rand(2, 3, 10, 12), torch.zeros(2, 2)), "crop.onnx", dynamo=True,
                  input_names=["image", "bias"], dynamic_axes=dynamic_axes)
