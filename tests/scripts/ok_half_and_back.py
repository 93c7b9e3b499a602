import torch
import torch.nn as nn

net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU())
net.half()
size_mb = sum(p.numel() * p.element_size() for p in net.parameters()) / 2 ** 20
print(f"{size_mb:.6f} MB in float16")
net.float().eval()
x = torch.rand(2, 1, 6, 6).half().float()
torch.onnx.export(net, x, "back.onnx", input_names=["x"], output_names=["y"], dynamo=False,
                  dynamic_axes={"x": {0: "n"}, "y": {0: "n"}})
