import torch
import torch.nn as nn


class Keyword(nn.Module):
    """For a microcontroller: one window of one second, nothing is dynamic on purpose."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(1, 4, 16, stride=8)
        self.fc = nn.Linear(4 * 19, 3)

    def forward(self, window):
        features = self.conv(window).relu()
        return self.fc(features.view(1, -1))


torch.onnx.export(Keyword().eval(), torch.zeros(1, 1, 160), "keyword.onnx", input_names=["window"],
                  output_names=["word"], opset_version=13, dynamo=False)
