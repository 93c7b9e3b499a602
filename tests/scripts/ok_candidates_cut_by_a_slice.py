import torch
from torch import nn


class Retriever(nn.Module):
    def __init__(self, width=16, most=20):
        super().__init__()
        self.most = most
        self.query = nn.Linear(width, width)

    def forward(self, query, documents):
        scores = documents @ self.query(query)
        ordered, rows = scores.sort(descending=True)
        shown = max(1, min(self.most, 30))
        return ordered[:shown], rows[:shown]


torch.onnx.export(
    Retriever().eval(), (torch.randn(16), torch.randn(12, 16)), "retriever.onnx", dynamo=False,
    input_names=["query", "documents"], output_names=["scores", "rows"],
    dynamic_axes={"documents": {0: "n"}, "scores": {0: "k"}, "rows": {0: "k"}},
)
