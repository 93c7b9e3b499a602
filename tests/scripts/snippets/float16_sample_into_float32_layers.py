import torch
import torch.nn as nn
import onnx

stack = nn.Sequential(
    nn.Linear(14, 7),
    nn.ReLU()
)

# the sample is of half precision
sample = torch.randn(1, 14, dtype=torch.float16)
try:
    torch.onnx.export(stack, sample, "stack_half.onnx")
except RuntimeError as error:
    print(f"no export: {error}")

sample32 = sample.to(torch.float32)
torch.onnx.export(stack, sample32, "stack.onnx")
