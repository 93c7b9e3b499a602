import torch
import torch.onnx


def spread(ids, depth):
    """One-hot vectors along a new last axis, for ids of any rank."""
    count = ids.shape[0]
    hot = torch.zeros((*ids.shape[:-1], depth), dtype=torch.float32, device=ids.device)
    hot = torch.scatter_(hot, -1, ids.unsqueeze(-1), 1)
    return hot


ids = torch.tensor([[2, 1, 0], [0, 0, 2]], dtype=torch.int64)
depth = 3
result = spread(ids, depth)
print(result)
