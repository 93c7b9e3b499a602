import torch
import torch.nn as nn


class Cosine(nn.Module):
    def __init__(self, d=8, classes=5):
        super().__init__()
        self.centres = nn.Parameter(torch.randn(classes, d))

    def forward(self, x):
        x = nn.functional.normalize(x)
        return x @ nn.functional.normalize(self.centres).t()


options = dict(
    opset_version=11,
    do_constant_folding=True,
    strip_doc_string=True,
    input_names=["x"],
    output_names=["cosine"],
)
if __name__ == "__main__":
    torch.onnx.export(Cosine().eval(), torch.randn(1, 8), "cosine.onnx", dynamo=False, **options)
