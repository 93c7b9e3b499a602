import torch
import torch.nn as nn


class Patches(nn.Module):
    def __init__(self, d=16):
        super().__init__()
        self.cls = nn.Parameter(torch.zeros(1, 1, d))
        layer = nn.TransformerEncoderLayer(d_model=d, nhead=4, dim_feedforward=32, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers=2)
        self.head = nn.Linear(d, 3)

    def forward(self, patches):
        x = torch.cat([self.cls.expand(patches.size(0), -1, -1), patches], dim=1)
        return self.head(self.encoder(x)[:, 0])


model = Patches()
model.eval()
with torch.no_grad():
    torch.onnx.export(model, torch.randn(2, 9, 16), "patches.onnx", input_names=["patches"], output_names=["y"],
                      opset_version=17, dynamic_axes={"patches": {0: "n"}, "y": {0: "n"}}, dynamo=False)
