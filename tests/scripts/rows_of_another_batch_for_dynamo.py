from pathlib import Path

import numpy as np
import onnxruntime as ort
import torch
from torch import nn

TARGET = Path("out") / ".." / "churn"

model = nn.Sequential(nn.Linear(15, 8), nn.ReLU(), nn.Linear(8, 1)).eval()
Path("out").mkdir(exist_ok=True)
path = TARGET.with_suffix(".onnx")
torch.onnx.export(model, (torch.randn(2, 15),), path.as_posix(), input_names=["rows"], dynamo=True)
session = ort.InferenceSession(path.as_posix())
rows = np.random.default_rng(0).normal(size=(8, 15)).astype(np.float32)
(got,) = session.run(None, {"rows": rows})
print(got.shape)
