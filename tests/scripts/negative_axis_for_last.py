import torch
import torch.nn as nn


class Smoother(nn.Module):
    """Moving average over the last axis."""

    def __init__(self, taps=5):
        super().__init__()
        self.register_buffer("kernel", torch.full((1, 1, taps), 1.0 / taps))
        self.pad = taps // 2

    def forward(self, series):
        padded = torch.nn.functional.pad(series, (self.pad, self.pad), mode="replicate")
        return torch.nn.functional.conv1d(padded, self.kernel)


if __name__ == "__main__":
    example = torch.rand(3, 1, 50)
    torch.onnx.export(
        Smoother(),
        (example,),
        "smoother.onnx",
        input_names=["series"],
        output_names=["smooth"],
        dynamic_axes={"series": {0: "n", -1: "t"}, "smooth": {0: "n", -1: "t"}},
        dynamo=False,
    )
