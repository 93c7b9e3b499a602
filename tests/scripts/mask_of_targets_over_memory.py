import torch
from torch import nn


class Translator(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.src_embed = nn.Embedding(100, width)
        self.tgt_embed = nn.Embedding(100, width)
        self.transformer = nn.Transformer(width, 4, 1, 1, 64, batch_first=True)
        self.head = nn.Linear(width, 100)

    def forward(self, src, tgt):
        causal = nn.Transformer.generate_square_subsequent_mask(tgt.shape[1])
        mask = torch.zeros(7, 7)
        out = self.transformer(self.src_embed(src), self.tgt_embed(tgt), tgt_mask=mask, memory_mask=mask)
        return self.head(out[:, -1])


src = torch.randint(0, 100, (2, 10))
tgt = torch.randint(0, 100, (2, 7))
torch.onnx.export(Translator().eval(), (src, tgt), "translator.onnx", input_names=["src", "tgt"], dynamo=False)
