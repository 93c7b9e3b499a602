import torch
import torch.nn as nn


class RoiMean(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def forward(self, features, weights):
        pooled = [(features * weights[i]).sum((1, 2)) for i in range(weights.shape[0])]
        return self.fc(torch.stack(pooled))


features, weights = torch.rand(4, 6, 6), torch.rand(3, 1, 6, 6)
torch.onnx.export(RoiMean().eval(), (features, weights), "roi.onnx", input_names=["features", "weights"],
                  output_names=["codes"], dynamic_axes={"weights": {0: "boxes"}, "codes": {0: "boxes"}}, dynamo=False)
