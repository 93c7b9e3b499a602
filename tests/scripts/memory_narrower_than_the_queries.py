import torch

class Block(torch.nn.Module):
    def __init__(self, embed_dim=64, num_heads=8):
        super().__init__()
        self.norm = torch.nn.LayerNorm(embed_dim)
        self.attn = torch.nn.MultiheadAttention(embed_dim, num_heads, batch_first=True)

    def forward(self, queries, memory):
        x = self.norm(queries)
        y, _ = self.attn(x, memory, memory)
        return queries + y

block = Block()
block.eval()
q = torch.randn(2, 5, 64)
mem = torch.randn(2, 7, 32)
torch.onnx.export(block, (q, mem), "block.onnx", input_names=["q", "mem"], dynamo=False)
