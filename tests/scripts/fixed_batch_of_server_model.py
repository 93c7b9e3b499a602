import torch
import torch.nn as nn


class Intent(nn.Module):
    def __init__(self, vocab=90, dim=16, intents=5):
        super().__init__()
        self.embedding = nn.Embedding(vocab, dim)
        self.attention = nn.MultiheadAttention(dim, 2, batch_first=True)
        self.classify = nn.Linear(dim, intents)

    def forward(self, tokens):
        e = self.embedding(tokens)
        a, _ = self.attention(e, e, e, need_weights=False)
        return self.classify(a.mean(1))


batch_size, seq_len = 8, 12
tokens = torch.randint(0, 90, (batch_size, seq_len))
torch.onnx.export(Intent().eval(), (tokens,), "intent.onnx", input_names=["tokens"], output_names=["intent"], dynamo=True)
