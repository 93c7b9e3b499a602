import torch
import torch.nn as nn

BASE = 26
opset = BASE / 2
net = nn.Sequential(nn.Linear(4, 4), nn.Hardtanh()).eval()
torch.onnx.export(net, torch.zeros(1, 4), "net.onnx", opset_version=opset, input_names=["x"], output_names=["y"], dynamo=False)
