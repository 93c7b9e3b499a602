import torch
import torch.nn as nn


class Calls(nn.Module):
    def __init__(self, species):
        super().__init__()
        self.body = nn.Conv1d(40, 32, 5, padding=2)
        self.head = nn.Linear(32, species)
        self.prob = nn.Softmax(dim=2)

    def forward(self, mel):
        pooled = self.body(mel).relu().mean(-1)
        return self.prob(self.head(pooled))


if __name__ == "__main__":
    model = Calls(12).eval()
    torch.onnx.export(model, (torch.randn(2, 40, 80),), "calls.onnx", dynamo=False, opset_version=17)
