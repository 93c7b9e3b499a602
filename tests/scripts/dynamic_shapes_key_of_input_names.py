import torch
from torch import nn


class Embedder(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.table = nn.EmbeddingBag(vocab, dim, mode="mean")

    def forward(self, ids):
        return self.table(ids)


embedder = Embedder(200, 24).eval()
batch = torch.randint(0, 200, (3, 7))
rows = torch.export.Dim("rows", min=2, max=64)
torch.onnx.export(
    embedder,
    (batch,),
    "embedder.onnx",
    input_names=["token_ids"],
    output_names=["vector"],
    dynamic_shapes={"token_ids": {0: rows}},
    dynamo=True,
)
