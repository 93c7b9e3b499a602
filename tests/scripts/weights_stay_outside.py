import torch
import torch.nn as nn

settings = {"export_params": False, "dynamo": False}
net = nn.Sequential(nn.Linear(4, 4), nn.Tanh()).eval()
torch.onnx.export(net, torch.rand(1, 4), "net.onnx", input_names=["x"], **settings)
