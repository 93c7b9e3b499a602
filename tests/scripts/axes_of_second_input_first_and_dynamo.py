import torch
import torch.nn as nn


class RetrievalHead(nn.Module):
    def __init__(self, d=16):
        super().__init__()
        self.proj = nn.Linear(d, d)

    def forward(self, image, captions):
        i = nn.functional.normalize(self.proj(image), dim=-1)
        c = nn.functional.normalize(captions, dim=-1)
        return torch.einsum("bd,bnd->bn", i, c)


def axes():
    table = {}
    table["captions"] = {0: "batch", 1: "n_captions"}
    table["image"] = {0: "batch"}
    return table


head = RetrievalHead().eval()
torch.onnx.export(head, (torch.randn(3, 16), torch.randn(3, 5, 16)), "retrieval.onnx",
                  input_names=["image", "captions"], output_names=["similarity"], dynamic_axes=axes())
