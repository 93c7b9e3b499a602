import torch
import torch.nn as nn


class Ranker(nn.Module):
    def __init__(self, d=12):
        super().__init__()
        self.encoder = nn.TransformerEncoderLayer(d, 2, 24, dropout=0.1, batch_first=True)
        self.score = nn.Linear(d, 1)

    def forward(self, items):
        return self.score(self.encoder(items)).squeeze(-1)


@torch.inference_mode()
def export(path):
    ranker = Ranker().eval()
    torch.onnx.export(ranker, torch.randn(2, 6, 12), path, input_names=["items"], output_names=["scores"], dynamo=False,
                      dynamic_axes={"items": {0: "n"}, "scores": {0: "n"}})


export("ranker.onnx")
