import onnxruntime as ort
import torch
from torch import nn

model = nn.Linear(8, 4).eval()
x = torch.randn(1, 8)
torch.onnx.export(model, (x,), "accent.onnx", input_names=["mel"], output_names=["accent"], dynamo=False)
session = ort.InferenceSession("accent.onnx")
print(session.run(["accent"], {"mel": x.numpy()}))
feed = {"mel": x}
print(session.run(["accent"], {name: value.numpy() for name, value in feed.items()}))
