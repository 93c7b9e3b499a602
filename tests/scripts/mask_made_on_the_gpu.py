import torch
import torch.nn as nn


class Decoder(nn.Module):
    def __init__(self, d=8):
        super().__init__()
        self.lin = nn.Linear(d, d)
        self.device = torch.device("cuda")

    def causal(self, n):
        return torch.full((n, n), float("-inf"), device=self.device).triu(1)

    def forward(self, x):
        scores = self.lin(x) @ x.transpose(1, 2)
        return (scores + self.causal(x.shape[1])).softmax(-1) @ x


decoder = Decoder().eval()
x = torch.randn(1, 5, 8)
torch.onnx.export(decoder, x, "decoder.onnx", input_names=["x"], output_names=["y"], dynamo=False)
