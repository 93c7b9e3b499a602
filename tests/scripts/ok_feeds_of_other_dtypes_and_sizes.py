import numpy as np, torch, onnxruntime as ort
from torch import nn


class M(nn.Module):
    def __init__(self):
        super().__init__(); self.fc = nn.Linear(3, 3)
    def forward(self, x, flag: bool = True, scale=None):
        return self.fc(x) if flag else x


torch.onnx.export(M().eval(), (torch.randn(2, 3),), "m.onnx", input_names=["x"], dynamic_axes={"x": {0: "n"}}, dynamo=False)
s = ort.InferenceSession("m.onnx")
for n in [1, 7]:
    s.run(None, {s.get_inputs()[0].name: np.random.rand(n, 3).astype("float32")})


ids = np.array([[1.0, 2.0, 3.0]], dtype=np.float32)
s.run(None, {"x": ids})
s.run(None, dict(x=ids))
arr = np.random.rand(3).astype(np.float32)[None]
s.run(None, {"x": arr})
img = (np.random.rand(4, 3) * 255).astype(np.uint8)
img = img / np.float32(255)
s.run(None, {"x": img.astype(np.float32)})


class T(nn.Module):
    def forward(self, ids, m):
        return ids * m.long()


torch.onnx.export(T(), (torch.ones(1, 4, dtype=torch.long), torch.ones(1, 4, dtype=torch.bool)), "t.onnx", input_names=["ids", "m"], dynamo=False)
t = ort.InferenceSession("t.onnx")
t.run(None, {"ids": np.ones((1, 4), dtype=np.int64), "m": np.ones((1, 4), dtype=bool)})
t.run(None, {"ids": np.arange(4)[None], "m": np.ones((1, 4)) > 0})
t.run(None, {"ids": np.array([[1, 2, 3, 4]]), "m": np.array([[True, False, True, True]])})
