import numpy as np
import onnxruntime as ort
import torch
from PIL import Image
from torch import nn

model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 2)).eval()
torch.onnx.export(model, (torch.randn(1, 3, 16, 16),), "flowers.onnx", input_names=["image"], dynamo=False)
image = Image.fromarray(np.random.randint(0, 255, (16, 16, 3), dtype=np.uint8)).convert("RGB")
pixels = (np.asarray(image) / np.float32(255)).astype("float32") * np.array([1, 1, 1], dtype=np.float32)
batch = pixels.transpose(2, 0, 1)[None]
(scores,) = ort.InferenceSession("flowers.onnx").run(None, {"image": batch})
print(scores.shape)
