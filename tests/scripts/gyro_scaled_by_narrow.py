import torch
import torch.nn as nn


class Gait(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = 0.0174533
        self.net = nn.Conv1d(6, 4, 5, padding=2)

    def forward(self, imu):
        x = imu.clone()
        x.narrow(1, 3, 3).mul_(self.scale)
        return self.net(x)


model = Gait().eval()
torch.onnx.export(model, (torch.randn(1, 6, 50),), "gait.onnx", dynamo=False, opset_version=17)
