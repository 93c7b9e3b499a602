import numpy as np, torch, onnxruntime as ort
from torch import nn


def export(size, path, dynamic):
    net = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.AdaptiveAvgPool2d(1), nn.Flatten()).eval()
    axes = {"x": {0: "n", 2: "h", 3: "w"}} if dynamic else None
    torch.onnx.export(net, torch.randn(1, 3, size, size), path, input_names=["x"], dynamic_axes=axes, dynamo=False)


for size, dynamic in [(32, False), (64, True)]:
    path = f"net_{size}.onnx"
    export(size, path, dynamic)
    s = ort.InferenceSession(path)
    s.run(None, {"x": np.zeros((1, 3, size, size), np.float32)})


s.run(None, {"x": np.zeros((2, 3, 48, 40), np.float32)})
small = ort.InferenceSession("net_32.onnx")
x = np.zeros((4, 3, 32, 32), np.float32)
for row in x:
    small.run(None, {"x": row[None]})


for i in range(4):
    small.run(None, {"x": x[i:i + 1]})


y = np.concatenate([small.run(None, {"x": part})[0] for part in np.split(x, 4)])
small.run(None, {small.get_inputs()[0].name: np.expand_dims(x[0], 0)})
small.run(None, {"x": np.transpose(np.zeros((1, 32, 32, 3), np.float32), (0, 3, 1, 2))})
small.run(None, {"x": torch.zeros(3, 32, 32).unsqueeze(0).numpy()})
