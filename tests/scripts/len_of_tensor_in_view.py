import torch
import torch.nn as nn


class Pointwise(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 16)

    def forward(self, cloud):
        n = len(cloud)
        feats = self.fc(cloud.reshape(n * 10, 3)).relu()
        return feats.reshape(n, 10, 16).amax(1)


cloud = torch.rand(4, 10, 3)
torch.onnx.export(Pointwise().eval(), cloud, "cloud.onnx", input_names=["cloud"], output_names=["code"],
                  dynamic_axes={"cloud": {0: "clouds"}, "code": {0: "clouds"}}, dynamo=False)
