import torch
import torch.nn as nn


class Scene(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, stride=2, padding=1)
        self.pool = nn.AdaptiveAvgPool2d((4, 2))
        self.top = nn.AdaptiveMaxPool2d(1)
        self.fc = nn.Linear(8 * 8 + 8, 6)

    def forward(self, x):
        f = self.stem(x).relu()
        return self.fc(torch.cat([self.pool(f).flatten(1), self.top(f).flatten(1)], dim=1))


torch.onnx.export(Scene().eval(), torch.randn(1, 3, 32, 32), "scene.onnx", input_names=["x"], output_names=["y"],
                  dynamic_axes={"x": {0: "batch"}, "y": {0: "batch"}}, dynamo=False)
