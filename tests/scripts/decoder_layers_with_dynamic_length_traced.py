import torch
import torch.nn as nn


class Music(nn.Module):
    def __init__(self, vocab=50, d=16):
        super().__init__()
        self.emb = nn.Embedding(vocab, d)
        self.layers = nn.ModuleList(
            nn.TransformerDecoderLayer(d, 2, 32, dropout=0.0, batch_first=True) for _ in range(2)
        )
        self.out = nn.Linear(d, vocab)

    def forward(self, notes, memory):
        h = self.emb(notes)
        for layer in self.layers:
            h = layer(h, memory)
        return self.out(h)


music = Music().eval()
notes, memory = torch.randint(0, 50, (2, 7)), torch.randn(2, 4, 16)
torch.onnx.export(music, (notes, memory), "music.onnx", input_names=["notes", "memory"], output_names=["logits"],
                  dynamic_axes={"notes": {0: "n", 1: "t"}, "memory": {0: "n"}, "logits": {0: "n", 1: "t"}},
                  dynamo=False)
