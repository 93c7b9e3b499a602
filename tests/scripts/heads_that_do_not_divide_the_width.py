import torch
from torch import nn

CONFIG = dict(width=100, heads=8, depth=2)


class Tagger(nn.Module):
    def __init__(self, width, heads, depth, **_):
        super().__init__()
        layer = nn.TransformerEncoderLayer(d_model=width, nhead=heads, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, depth)

    def forward(self, x):
        return self.encoder(x)


model = Tagger(**CONFIG).eval()
torch.onnx.export(model, (torch.randn(2, 7, CONFIG["width"]),), "tagger.onnx", dynamo=False)
