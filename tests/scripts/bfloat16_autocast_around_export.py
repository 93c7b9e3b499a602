import torch
import torch.nn as nn


class Ranker(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(40, 20)
        self.b = nn.Linear(20, 1)

    def forward(self, pair):
        return self.b(torch.relu(self.a(pair))).squeeze(1)


ranker = Ranker().eval()
pair = torch.randn(3, 40)
with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
    torch.onnx.export(ranker, pair, "ranker.onnx", input_names=["pair"], output_names=["score"],
                      dynamic_axes={"pair": {0: "n"}, "score": {0: "n"}}, dynamo=False)
