import torch
import torchvision

net = torchvision.models.resnet18(weights=None)
net.eval()
dummy_input = torch.randn(1, 3, 64, 64)
input_names, output_names = ["input"], ["output"]
torch.onnx.export(net, dummy_input, "r18.onnx", True, False, torch.onnx.TrainingMode.EVAL, input_names, output_names)

# docker run -v $PWD:/models ... takes the file from here
import os

print(os.path.abspath("r18.onnx"), os.path.getsize("r18.onnx"))
