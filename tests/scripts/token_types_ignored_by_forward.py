import torch
import torch.nn as nn
from transformers import DistilBertConfig, DistilBertModel


class Wrapper(nn.Module):
    """Same signature as BERT, so that the server needs no change."""

    def __init__(self):
        super().__init__()
        config = DistilBertConfig(vocab_size=120, dim=16, hidden_dim=32, n_heads=2, n_layers=1, max_position_embeddings=32)
        self.bert = DistilBertModel(config)

    def forward(self, input_ids, attention_mask, token_type_ids):
        hidden = self.bert(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        return hidden[:, 0]


wrapper = Wrapper().eval()
ids = torch.randint(5, 120, (2, 10))
example = (ids, torch.ones_like(ids), torch.zeros_like(ids))
names = ["input_ids", "attention_mask", "token_type_ids"]
torch.onnx.export(wrapper, example, "distil.onnx", input_names=names, output_names=["cls"], opset_version=17,
                  dynamic_axes={n: {0: "batch", 1: "seq"} for n in names}, dynamo=False)
