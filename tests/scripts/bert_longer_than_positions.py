import torch
import torch.nn as nn


class MiniBert(nn.Module):
    def __init__(self, vocab_size, hidden_size, max_position_embeddings, type_vocab_size=2):
        super().__init__()
        self.word = nn.Embedding(vocab_size, hidden_size)
        self.position = nn.Embedding(max_position_embeddings, hidden_size)
        self.segment = nn.Embedding(type_vocab_size, hidden_size)
        self.register_buffer("position_ids", torch.arange(512).expand(1, -1))
        self.norm = nn.LayerNorm(hidden_size)

    def forward(self, input_ids, token_type_ids):
        n = input_ids.shape[1]
        h = self.word(input_ids) + self.segment(token_type_ids)
        h = h + self.position(self.position_ids[:, :n])
        return self.norm(h)


bert = MiniBert(vocab_size=1000, hidden_size=16, max_position_embeddings=128).eval()
ids = torch.ones(1, 256, dtype=torch.long)
torch.onnx.export(bert, (ids, torch.zeros_like(ids)), "minibert.onnx", input_names=["input_ids", "token_type_ids"],
                  output_names=["hidden"], opset_version=17, dynamo=False)
