import torch
import torch.nn as nn


class Inpaint(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Conv2d(4, 16, 3, padding=1)
        self.dec = nn.Conv2d(16, 3, 3, padding=1)

    def forward(self, mask, image):
        x = torch.cat([image * (1 - mask), mask], dim=1)
        return self.dec(torch.relu(self.enc(x)))


model = Inpaint().eval()
image = torch.rand(1, 3, 32, 32)
mask = torch.ones(1, 1, 32, 32)
torch.onnx.export(model, (image, mask), "inpaint.onnx", opset_version=16,
                  input_names=["image", "mask"], output_names=["result"], dynamo=False)
