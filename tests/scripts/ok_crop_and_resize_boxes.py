import torch
import torch.nn as nn
from torchvision.ops import roi_align


class SecondStage(nn.Module):
    def __init__(self, channels=6, size=4, classes=3):
        super().__init__()
        self.size = size
        self.backbone = nn.Conv2d(3, channels, 3, stride=2, padding=1)
        self.head = nn.Sequential(nn.Flatten(), nn.Linear(channels * size * size, 16), nn.ReLU())
        self.cls, self.reg = nn.Linear(16, classes + 1), nn.Linear(16, 4 * (classes + 1))

    def forward(self, image, rois):
        f = self.backbone(image)
        rois = torch.cat([torch.zeros_like(rois[:, :1]), rois], dim=1)  # all of the one image
        crops = roi_align(f, rois, output_size=self.size, spatial_scale=0.5, sampling_ratio=2, aligned=True)
        h = self.head(crops)
        return self.cls(h).softmax(-1), self.reg(h).unflatten(1, (-1, 4))


image = torch.rand(1, 3, 32, 32)
rois = torch.tensor([[1.0, 1, 9, 9], [4, 2, 20, 30], [0, 0, 31, 31]])
torch.onnx.export(SecondStage().eval(), (image, rois), "second.onnx", input_names=["image", "rois"], opset_version=16,
                  output_names=["scores", "deltas"], dynamo=False,
                  dynamic_axes={"rois": {0: "k"}, "scores": {0: "k"}, "deltas": {0: "k"}})
