import torch
import torch.nn as nn


class SpanReader(nn.Module):
    def __init__(self, d=10):
        super().__init__()
        self.span = nn.Linear(d, 2)

    def forward(self, hidden):
        start_logits, end_logits = self.span(hidden).unbind(-1)
        return start_logits, end_logits


names = dict(input_names=["hidden"], output_names=["end_logits", "start_logits"])
axes = {n: {0: "batch", 1: "words"} for n in ("hidden", "start_logits", "end_logits")}
torch.onnx.export(SpanReader().eval(), torch.randn(2, 6, 10), "span.onnx", dynamo=False, dynamic_axes=axes, **names)
