import numpy as np
import onnx
import onnxruntime as ort
import torch
from torch import nn

torch.onnx.export(nn.Linear(4, 2).eval(), torch.randn(1, 4), "fc.onnx", input_names=["x"], dynamo=False)
model = onnx.load("fc.onnx")
model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "batch"
model.graph.output[0].type.tensor_type.shape.dim[0].dim_param = "batch"
onnx.save(model, "fc.onnx")
session = ort.InferenceSession("fc.onnx")
session.run(None, {"x": np.zeros((8, 4), np.float32)})

torch.onnx.export(nn.Linear(4, 2).eval(), torch.randn(1, 4), "other.onnx", input_names=["x"], dynamo=False)
session = ort.InferenceSession("other.onnx")
try:
    session.run(None, {"x": np.zeros((8, 4), np.float32)})
except Exception as error:
    print("static:", error)
