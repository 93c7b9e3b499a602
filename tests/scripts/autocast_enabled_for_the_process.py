import torch
import torch.nn as nn

torch.set_autocast_enabled("cpu", True)
torch.set_autocast_dtype("cpu", torch.bfloat16)

net = nn.Sequential(nn.Linear(5, 9), nn.ReLU(), nn.Linear(9, 1)).eval()
torch.onnx.export(net, torch.randn(2, 5), "net.onnx", input_names=["x"], output_names=["y"], dynamo=False,
                  dynamic_axes={"x": {0: "n"}, "y": {0: "n"}})
