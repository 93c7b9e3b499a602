import torch
from torch import nn

model = nn.Sequential(nn.Conv1d(4, 8, 3, padding=1), nn.Upsample(scale_factor=2, mode="bilinear"))
torch.onnx.export(model.eval(), (torch.randn(1, 4, 20),), "speech.onnx", dynamo=False,
                  input_names=["x"], output_names=["y"])
