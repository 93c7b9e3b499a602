import torch
import torch.nn as nn


class Spectrum(nn.Module):
    def __init__(self, n=16):
        super().__init__()
        self.register_buffer("window", torch.hann_window(n))

    def forward(self, frames):
        spectrum = torch.fft.rfft(frames * self.window)
        return torch.log1p(spectrum.real ** 2 + spectrum.imag ** 2)


torch.onnx.export(Spectrum(), (torch.randn(3, 16),), "spectrum.onnx", dynamo=True, input_names=["frames"],
                  output_names=["log_power"], dynamic_shapes=({0: "n"},))
