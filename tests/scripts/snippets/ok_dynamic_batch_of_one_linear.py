import torch
import torch.nn as nn


class Projection(nn.Module):
    def __init__(self):
        super(Projection, self).__init__()
        self.proj = nn.Linear(96, 48)

    def forward(self, feats):
        return self.proj(feats)


projection = Projection()
feats = torch.randn(1, 96)
free = {
    'feats': {0: 'rows'},
    'codes': {0: 'rows'}
}
torch.onnx.export(projection,
                  feats,
                  "projection.onnx",
                  verbose=True,
                  input_names=['feats'],
                  output_names=['codes'],
                  dynamic_axes=free,
                  opset_version=13)
