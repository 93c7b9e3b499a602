import onnxruntime as ort
import torch
from torch import nn

model = nn.Linear(8, 4).eval()
x = torch.randn(1, 8)
torch.onnx.export(model, (x,), "accent.onnx", input_names=["mel"], output_names=["accent"], dynamo=False)
session = ort.InferenceSession("accent.onnx")
binding = session.io_binding()
binding.bind_input("mel", "cpu", 0, "float32", tuple(x.shape), x.data_ptr())
binding.bind_output("accent")
session.run_with_iobinding(binding)
print(binding.copy_outputs_to_cpu()[0])
