import torch
import torch.nn as nn


class Service:
    def __init__(self, batch_size=1):
        self.batch_size = batch_size
        self.model = nn.Sequential(nn.Linear(10, 10), nn.ReLU()).eval()

    def export(self, path):
        dummy = torch.randn(self.batch_size, 10)
        torch.onnx.export(self.model, dummy, path, input_names=["x"], output_names=["y"], dynamo=False)


Service().export("service.onnx")
