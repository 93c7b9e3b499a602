import torch
import torch.nn as nn


def to_windows(x, size):
    b, h, w, c = x.shape
    x = x.view(b, h // size, size, w // size, size, c)
    return x.permute(0, 1, 3, 2, 4, 5).reshape(-1, size * size, c)


def from_windows(windows, size, h, w):
    b = windows.shape[0] // (h * w // size // size)
    x = windows.view(b, h // size, w // size, size, size, -1)
    return x.permute(0, 1, 3, 2, 4, 5).reshape(b, h, w, -1)


class WindowMixer(nn.Module):
    def __init__(self, dim=12, size=4, shift=2):
        super().__init__()
        self.size, self.shift = size, shift
        self.norm = nn.LayerNorm(dim)
        self.mix = nn.Linear(size * size, size * size)

    def forward(self, x):
        _, h, w, _ = x.shape
        y = torch.roll(self.norm(x), (-self.shift, -self.shift), (1, 2))
        y = self.mix(to_windows(y, self.size).transpose(1, 2)).transpose(1, 2)
        y = from_windows(y, self.size, h, w)
        return x + torch.roll(y, (self.shift, self.shift), (1, 2))


model = nn.Sequential(WindowMixer(shift=0), WindowMixer(shift=2)).eval()
torch.onnx.export(model, torch.randn(2, 8, 12, 12), "windows.onnx", input_names=["x"], output_names=["y"], dynamo=False,
                  dynamic_axes={"x": {0: "batch"}, "y": {0: "batch"}}, opset_version=17)
