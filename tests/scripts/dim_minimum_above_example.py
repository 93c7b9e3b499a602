import torch
import torchvision
from torch.export import Dim

side = Dim("side", min=128, max=1024)
net = torchvision.models.squeezenet1_1(weights=None).eval()
example = torch.randn(2, 3, 96, 96)
torch.onnx.export(
    net,
    (example,),
    "squeezenet.onnx",
    dynamo=True,
    input_names=["image"],
    output_names=["logits"],
    dynamic_shapes=({2: side, 3: side},),
)
