import torch
import torch.nn as nn
import onnx


class AnySize(nn.Module):
    def __init__(self):
        super().__init__()
        self.filter = nn.Conv2d(3, 10, 3)

    def forward(self, picture):
        return self.filter(picture)


anysize = AnySize()
try:
    picture = torch.randn(1, 3, 128, 128)
    torch.onnx.export(anysize, picture, "fixed.onnx", input_names=['picture'], output_names=['maps'])
except RuntimeError as error:
    print(f"no export: {error}")

# height and width are free here
torch.onnx.export(anysize, (torch.ones(1, 3, 1, 1)), "free.onnx",
                  dynamic_axes={'picture': {2: 'h', 3: 'w'}, 'maps': {2: 'h', 3: 'w'}})
