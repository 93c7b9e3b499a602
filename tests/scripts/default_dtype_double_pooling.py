import torch
import torch.nn as nn

torch.set_default_dtype(torch.float64)


class Seismic(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(3, 6, 7, stride=2)
        self.pool = nn.MaxPool1d(2)
        self.fc = nn.Linear(6, 2)

    def forward(self, trace):
        return self.fc(self.pool(self.conv(trace).relu()).mean(-1))


seismic = Seismic().eval()
torch.onnx.export(seismic, torch.randn(2, 3, 60), "seismic.onnx", input_names=["trace"], output_names=["pick"],
                  dynamic_axes={"trace": {0: "n"}, "pick": {0: "n"}}, dynamo=False)
