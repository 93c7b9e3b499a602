import torch
import torch.nn as nn


class CharModel(nn.Module):
    def __init__(self, vocab=60, hidden=16):
        super().__init__()
        self.emb = nn.Embedding(vocab, hidden)
        self.cell = nn.GRUCell(hidden, hidden)
        self.out = nn.Linear(hidden, vocab)

    def forward(self, chars):
        e = self.emb(chars)
        h = torch.zeros_like(e[:, 0])
        outputs = []
        for t in range(e.shape[1]):
            h = self.cell(e[:, t], h)
            outputs.append(self.out(h))
        return torch.stack(outputs, dim=1)


chars = torch.randint(0, 60, (2, 9))
torch.onnx.export(CharModel().eval(), chars, "char.onnx", input_names=["chars"], output_names=["logits"],
                  dynamic_axes={"chars": {0: "batch", 1: "length"}, "logits": {0: "batch", 1: "length"}}, dynamo=False)
