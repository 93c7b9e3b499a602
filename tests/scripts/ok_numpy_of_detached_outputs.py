import numpy as np
import onnxruntime as ort
import torch
from torch import nn

model = nn.Sequential(nn.Conv1d(3, 8, 1), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 4, 2))
model.eval()
x = torch.randn(1, 3, 4)
torch.onnx.export(model, x, "points.onnx", input_names=["x"], output_names=["y"], dynamo=False)
expected = model(x)
session = ort.InferenceSession("points.onnx", providers=["CPUExecutionProvider"])
(got,) = session.run(None, {"x": x.numpy()})
np.testing.assert_allclose(expected.detach().numpy(), got, rtol=1e-3, atol=1e-4)
classes = expected.argmax(1).numpy()
rounded = expected.long().float().numpy()
print(classes, rounded, expected.data.cpu().numpy(), torch.zeros_like(expected).numpy())
