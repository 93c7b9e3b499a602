import torch
import torch.nn as nn


class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(5, 3)

    def forward(self, a, b):
        return self.fc(a) * self.fc(b)


torch.onnx.export(Pair().eval(), (torch.randn(2, 5), torch.randn(2, 5)), "pair.onnx", dynamo=True,
                  input_names=["a", "b"], output_names=["y"],
                  dynamic_axes={"a": {0: "n"}, "b": {0: "n"}, "y": {0: "n"}})
