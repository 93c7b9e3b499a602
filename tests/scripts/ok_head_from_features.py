import sys

import torch
import torchvision.models as models
from torch import nn

name = sys.argv[1] if len(sys.argv) > 1 else "resnet18"
net = getattr(models, name)(weights=None)
net.fc = nn.Sequential(nn.Dropout(0.1), nn.Linear(net.fc.in_features, 7))
net.eval()
torch.onnx.export(net, torch.rand(2, 3, 64, 64), f"{name}.onnx", input_names=["x"], output_names=["y"],
                  dynamic_axes={"x": {0: "n"}, "y": {0: "n"}}, dynamo=False)
