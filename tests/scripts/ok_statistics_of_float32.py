import numpy as np
import torch
from torch import nn

image = np.random.randint(0, 256, (8, 8, 3)).astype(np.float32)
image -= np.array([123.7, 116.3, 103.5])
image = (image - image.mean()) / image.std()
image = np.clip(np.stack([image, np.flip(image, 1)]), -2, 2)
rows = np.concatenate([image, np.zeros_like(image)], axis=0).transpose(0, 3, 1, 2)
model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.Flatten(), nn.Linear(4 * 6 * 6, 2)).eval()
torch.onnx.export(model, torch.from_numpy(np.ascontiguousarray(rows)), "image.onnx", dynamo=False)
