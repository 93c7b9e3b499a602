import torch
import torch.nn as nn
from torchvision.models.resnet import BasicBlock, ResNet


class GrayResNet(ResNet):
    def __init__(self, classes):
        super().__init__(BasicBlock, [1, 1, 1, 1], num_classes=1000)
        self.conv1 = nn.Conv2d(1, 64, 7, stride=2, padding=3, bias=False)
        self.fc = nn.Linear(self.fc.in_features, classes)


net = GrayResNet(classes=6)
net.requires_grad_(False)
net.eval()
torch.onnx.export(net, torch.randn(1, 1, 64, 64), "gray.onnx", input_names=["x"], output_names=["y"], dynamo=False,
                  dynamic_axes={"x": {0: "batch"}, "y": {0: "batch"}})
