import glob
import numpy as np
import onnx
import onnxruntime as ort
import torch
from torch import nn

torch.onnx.export(nn.Linear(4, 2), torch.randn(1, 4), "m.onnx", input_names=["x"], output_names=["y"], dynamo=False)
for path in glob.glob("*.onnx"):
    model = onnx.load(path)
    for value in [*model.graph.input, *model.graph.output]:
        value.type.tensor_type.shape.dim[0].dim_param = "batch"
    onnx.save(model, path)
session = ort.InferenceSession("m.onnx")
print(session.run(None, {"x": np.zeros((3, 4), np.float32)}))
