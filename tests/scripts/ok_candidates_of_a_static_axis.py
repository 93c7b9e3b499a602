import torch
from torch import nn


class Retriever(nn.Module):
    def __init__(self, width=16, most=20):
        super().__init__()
        self.most = most
        self.query = nn.Linear(width, width)

    def forward(self, query, documents):
        scores = torch.einsum("bw,nw->bn", self.query(query), documents)
        count = min(self.most, scores.shape[1])
        return torch.topk(scores, count)


torch.onnx.export(
    Retriever().eval(), (torch.randn(2, 16), torch.randn(12, 16)), "retriever.onnx", dynamo=False,
    input_names=["query", "documents"], output_names=["scores", "rows"],
    dynamic_axes={"query": {0: "b"}, "scores": {0: "b"}, "rows": {0: "b"}},
)
