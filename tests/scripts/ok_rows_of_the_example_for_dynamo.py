from pathlib import Path

import numpy as np
import onnxruntime as ort
import torch
from torch import nn

TARGET = Path("out") / ".." / "churn"

model = nn.Sequential(nn.Linear(15, 8), nn.ReLU(), nn.Linear(8, 1)).eval()
Path("out").mkdir(exist_ok=True)
path = TARGET.with_suffix(".onnx")
program = torch.onnx.export(model, (torch.randn(2, 15),), input_names=["rows"], dynamo=True)
program.save(str(path))
session = ort.InferenceSession(str(path))
rows = np.random.default_rng(0).normal(size=(8, 15)).astype(np.float32)
for start in range(0, 8, 2):
    (got,) = session.run(None, {"rows": rows[start : start + 2]})
    print(got.shape)
