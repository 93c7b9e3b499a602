import torch
import torch.nn as nn


class ForFineTuning(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 12)
        self.bn = nn.BatchNorm1d(12)
        self.drop = nn.Dropout(0.4)
        self.out = nn.Linear(12, 2)

    def forward(self, x):
        return self.out(self.drop(self.bn(self.fc(x)).relu()))


net = ForFineTuning()
net.eval()
# the file is to be trained further on the device
torch.onnx.export(
    net,
    (torch.randn(4, 6),),
    "trainable.onnx",
    training=torch.onnx.TrainingMode.TRAINING,
    do_constant_folding=False,
    input_names=["x"],
    output_names=["y"],
    dynamic_shapes=({0: "n"},),
    dynamo=True,
)
