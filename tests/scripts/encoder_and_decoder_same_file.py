import torch
import torch.nn as nn


class Vae(nn.Module):
    def __init__(self, d=12, z=2):
        super().__init__()
        self.encoder = nn.Linear(d, z)
        self.decoder = nn.Linear(z, d)


vae = Vae().eval()
parts = {"encoder": torch.randn(2, 12), "decoder": torch.randn(2, 2)}
for part, example in parts.items():
    torch.onnx.export(getattr(vae, part), example, "vae.onnx", input_names=["x"], output_names=["y"],
                      dynamic_axes={"x": {0: "n"}, "y": {0: "n"}}, dynamo=False)
