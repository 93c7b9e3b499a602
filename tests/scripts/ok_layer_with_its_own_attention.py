import torch
from torch import nn
import torch.nn.functional as F
class Layer(nn.TransformerEncoderLayer):
    def _sa_block(self, x, attn_mask, key_padding_mask, is_causal=False):
        q = x.view(x.shape[0], x.shape[1], 2, 8).transpose(1, 2)
        y = F.scaled_dot_product_attention(q, q, q, attn_mask=attn_mask)
        return y.transpose(1, 2).flatten(2)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = Layer(16, 2, 32, batch_first=True)
    def forward(self, x, bias):
        return self.layer(x, src_mask=bias)
torch.onnx.export(Net().train(), (torch.randn(2, 8, 16), torch.randn(1, 1, 8)), "m.onnx", dynamo=False, input_names=["x", "bias"], training=torch.onnx.TrainingMode.PRESERVE)
