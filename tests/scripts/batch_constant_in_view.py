import torch
import torch.nn as nn

BATCH = 4

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 6, 3, padding=1)
        self.fc = nn.Linear(6 * 8 * 8, 10)

    def forward(self, x):
        x = torch.relu(self.conv(x))
        x = x.view(BATCH, -1)
        return self.fc(x)

net = Net().eval()
dummy = torch.randn(BATCH, 3, 8, 8)
torch.onnx.export(net, dummy, "net.onnx", input_names=["x"], output_names=["y"],
                  dynamic_axes={"x": {0: "batch"}, "y": {0: "batch"}}, dynamo=False)
