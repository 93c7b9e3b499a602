import numpy as np
import torch
import torch.nn as nn
from PIL import Image

net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.AdaptiveMaxPool2d(1), nn.Flatten(), nn.Linear(8, 2))
net.eval()
photo = Image.new("RGB", (64, 48)).resize((32, 32))
pixels = np.asarray(photo, dtype=np.float32) / 255.0
pixels = np.transpose(pixels, (2, 0, 1))[None, ...]
torch.onnx.export(net, (pixels,), "photo.onnx", input_names=["photo"], dynamo=False)
