import torch
import torch.nn as nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
dtype = torch.float16

model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 6 * 6, 2))
model = model.to(device=device, dtype=dtype).eval()
example = torch.rand(2, 3, 8, 8, device=device).to(dtype)
torch.onnx.export(model, example, "half.onnx", dynamo=False, input_names=["x"], output_names=["y"],
                  dynamic_axes={"x": {0: "batch"}, "y": {0: "batch"}})
