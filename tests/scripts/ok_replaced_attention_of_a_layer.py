import torch
from torch import nn
class Attn(nn.Module):
    batch_first = True
    in_proj_bias = None
    _qkv_same_embed_dim = False
    num_heads = 2
    def __init__(self, d):
        super().__init__()
        self.q = nn.Linear(d, d)
    def forward(self, q, k, v, attn_mask=None, key_padding_mask=None, need_weights=False, is_causal=False):
        s = self.q(q) @ k.transpose(1, 2) + attn_mask
        return s.softmax(-1) @ v, None
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
        self.layer.self_attn = Attn(16)
    def forward(self, x, bias):
        return self.layer(x, src_mask=bias)
torch.onnx.export(Net().eval(), (torch.randn(2, 8, 16), torch.randn(2, 8, 8)), "m.onnx", dynamo=False, input_names=["x", "bias"])
