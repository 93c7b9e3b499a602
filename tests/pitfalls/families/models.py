"""Parts of sequence models, written as in real models: most are correct, some have a typical mistake."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

from cases import case

r = torch.randn
SEQ = {0: {0: "batch", 1: "seq"}}
B = {0: {0: "batch"}}


@case(r(2, 5, 8), dynamic=SEQ, others=[(r(3, 7, 8),), (r(1, 3, 8),)])
class SelfAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads, self.qkv, self.out = 2, nn.Linear(8, 24), nn.Linear(8, 8)

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = self.qkv(x).reshape(b, n, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        weights = (q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])).softmax(-1)
        return self.out((weights @ v).transpose(1, 2).reshape(b, n, d))


@case(torch.tensor([[1, 2, 3], [4, 5, 0]]), dynamic=SEQ,
      others=[(torch.tensor([[1, 2, 3, 4, 0], [2, 2, 1, 0, 0], [1, 1, 1, 1, 1]]),), (torch.tensor([[1, 0]]),)])
class EmbeddingsWithPlaces(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places, self.norm = nn.Embedding(10, 4), nn.Embedding(16, 4), nn.LayerNorm(4)
        self.register_buffer("ids", torch.arange(16)[None], persistent=False)

    def forward(self, tokens):
        length = tokens.size(1)
        mask = (tokens != 0).unsqueeze(-1).float()
        return self.norm(self.words(tokens) + self.places(self.ids[:, :length])) * mask


@case(r(2, 5, 5, 2), dynamic={0: {0: "batch", 1: "q", 2: "k"}}, others=[(r(3, 4, 6, 2),)])
class RelativeBuckets(nn.Module):
    def __init__(self):
        super().__init__()
        self.bias = nn.Embedding(8, 2)

    def forward(self, scores):
        q, k = scores.shape[1], scores.shape[2]
        distance = torch.arange(k)[None] - torch.arange(q)[:, None]
        far = 4 + (distance.abs().clamp(min=1).float().log() / math.log(16) * 4).long()
        bucket = torch.where(distance.abs() < 4, distance.abs(), far.clamp(max=7))
        return scores + self.bias(bucket)


@case(r(2, 4, 6), dynamic={0: {0: "batch", 2: "time"}}, others=[(r(3, 4, 9),), (r(1, 4, 2),)])
class CausalConvolution(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(4, 4, 3, dilation=2)

    def forward(self, x):
        x = F.pad(x, (4, 0))
        y = self.conv(x)
        return y[:, :, :x.size(2)]


@case(r(2, 20), dynamic={0: {0: "batch", 1: "samples"}}, others=[(r(3, 32),), (r(1, 11),)])
class Frames(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("window", torch.hann_window(8))

    def forward(self, x):
        return x.unfold(-1, 8, 4) * self.window


@case(r(2, 6, 4), torch.tensor([6, 3]), dynamic={0: {0: "batch", 1: "time"}, 1: {0: "batch"}},
      others=[(r(3, 8, 4), torch.tensor([8, 2, 5])), (r(1, 4, 4), torch.tensor([1]))])
class MeanOfLengths(nn.Module):
    def forward(self, x, lengths):
        steps = torch.arange(x.shape[1], device=x.device)
        mask = (steps[None] < lengths[:, None]).unsqueeze(-1).to(x.dtype)
        return (x * mask).sum(1) / mask.sum(1).clamp(min=1)


@case(r(2, 6, 4), torch.tensor([6, 3]), dynamic={0: {0: "batch", 1: "time"}, 1: {0: "batch"}},
      others=[(r(2, 6, 4), torch.tensor([2, 5])), (r(1, 4, 4), torch.tensor([1]))])
class MeanByLoop(nn.Module):
    def forward(self, x, lengths):
        rows = []
        for i in range(x.shape[0]):  # PITFALL: unrolled-loop
            rows.append(x[i, :int(lengths[i])].mean(0))  # PITFALL: item-baked
        return torch.stack(rows)


@case(r(2, 10), dynamic=B, others=[(r(3, 10),), (r(1, 10),)])
class BestThree(nn.Module):
    def forward(self, scores):
        best, places = scores.topk(3, dim=1)
        return best.softmax(-1), places


@case(r(2, 6, 4), dynamic=SEQ, others=[(r(3, 8, 4),), (r(1, 2, 4),)])
class MixtureOfExperts(nn.Module):
    """Correct: the loop runs over the experts, whose number is fixed by the model."""

    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(4, 4)
        self.experts = nn.ModuleList(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 4)) for _ in range(4))

    def forward(self, x):
        gates = self.gate(x).softmax(-1)
        out = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            out = out + gates[..., i:i + 1] * expert(x)
        return out


@case(r(3, 6), dynamic=B, others=[(r(4, 6),), (r(5, 6),)])
class ContrastiveLogits(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(2.6))

    def forward(self, x):
        a, b = x.chunk(2, dim=1)
        a, b = F.normalize(a, dim=-1), F.normalize(b, dim=-1)
        return self.scale.exp() * a @ b.t()


@case(r(2, 4, 8), dynamic=SEQ, others=[(r(3, 6, 8),), (r(1, 2, 8),)])
class RotaryCache(nn.Module):
    """Correct: the check of the length only rejects inputs that are longer than the table."""

    def __init__(self):
        super().__init__()
        angles = torch.arange(32.0)[:, None] / 100 ** (torch.arange(0, 8, 2) / 8)
        self.register_buffer("cos", torch.cat([angles, angles], -1).cos())
        self.register_buffer("sin", torch.cat([angles, angles], -1).sin())

    def forward(self, x):
        n = x.shape[1]
        if n > self.cos.shape[0]:
            raise ValueError("too long")
        half = torch.cat([-x[..., 4:], x[..., :4]], -1)
        return x * self.cos[:n] + half * self.sin[:n]


@case(r(2, 4, 8), torch.ones(2, 4, dtype=torch.long), dynamic={0: {0: "batch", 1: "seq"}, 1: {0: "batch", 1: "seq"}},
      others=[(r(3, 6, 8), torch.tensor([[1] * 6, [1] * 4 + [0] * 2, [1] * 3 + [0] * 3]))])
class ExtendedMask(nn.Module):
    def forward(self, x, mask):
        if mask.dim() == 3:
            wide = mask[:, None]
        elif mask.dim() == 2:
            wide = mask[:, None, None]
        else:
            raise ValueError(mask.shape)
        bias = (1.0 - wide.to(dtype=x.dtype)) * torch.finfo(x.dtype).min
        return ((x @ x.transpose(1, 2))[:, None] + bias).softmax(-1)


@case(r(2, 4, 8), torch.ones(2, 4, dtype=torch.long), dynamic={0: {0: "batch", 1: "seq"}, 1: {0: "batch", 1: "seq"}},
      others=[(r(3, 6, 8), torch.tensor([[1] * 6, [1] * 4 + [0] * 2, [1] * 3 + [0] * 3]))])
class MaskIfNeeded(nn.Module):
    def forward(self, x, mask):
        scores = x @ x.transpose(1, 2)
        if not mask.all():  # PITFALL: traced-branch
            scores = scores.masked_fill(mask[:, None] == 0, -1e9)
        return scores.softmax(-1)


@case(r(2, 6), dynamic=B, others=[(r(3, 6),), (r(5, 6),)])
class QuantisedByHand(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("scale", torch.tensor(0.1))
        self.register_buffer("zero", torch.tensor(3))

    def forward(self, x):
        q = torch.clamp((x / self.scale).round() + self.zero, 0, 255)
        return (q - self.zero) * self.scale


@case(r(2, 6), dynamic=B, others=[(r(2, 6) * 30,), (r(5, 6),)])
class ScaleByExample(nn.Module):
    def forward(self, x):
        scale = x.abs().max().item() / 127  # PITFALL: item-baked
        return (x / scale).round().clamp(-127, 127) * scale


@case(r(2, 5, 4), dynamic=SEQ, others=[(r(3, 7, 4),), (r(1, 3, 4),)])
class StateOfTheBatch(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(4, 3, batch_first=True, bidirectional=True)

    def forward(self, x):
        h = torch.zeros(2, x.size(0), 3)
        out, _ = self.lstm(x, (h, h))
        return out


@case(r(2, 5, 4), dynamic={0: {0: "batch"}}, others=[(r(3, 5, 4),), (r(1, 5, 4),)])
class StateOfTheExample(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(4, 3, batch_first=True)

    def forward(self, x):
        n = int(x.size(0))  # PITFALL: baked-shape
        h = torch.zeros(1, n, 3)
        return self.lstm(x, (h, h))[0]


@case(r(2, 4), dynamic=B, others=[(r(2, 4) + 5,), (r(3, 4) - 5,)])
class LoopUntilConverged(nn.Module):
    def forward(self, x):
        y = x
        for _ in range(20):
            step = (y - x.tanh()) * 0.5
            y = y - step
            if step.abs().max() < 1e-2:  # PITFALL: traced-branch
                break
        return y


@case(r(2, 4, 4), dynamic=B, others=[(r(3, 4, 4),), (r(1, 4, 4),)])
class FourByFour(nn.Module):
    """Rows, columns and features have the same size, so every weight has the size of every axis."""

    def __init__(self):
        super().__init__()
        self.mix, self.bias = nn.Parameter(r(4, 4)), nn.Parameter(r(4, 4))
        self.norm = nn.LayerNorm([4, 4])

    def forward(self, x):
        return self.norm(self.mix @ x + self.bias).view(-1, 4, 4).transpose(1, 2)


@case(r(2, 5, 3), torch.tensor([[0, 2], [1, 4]]), dynamic={0: {0: "batch", 1: "n"}, 1: {0: "batch", 1: "k"}},
      others=[(r(3, 6, 3), torch.tensor([[0, 5, 1], [1, 4, 2], [3, 3, 3]]))])
class GatheredRows(nn.Module):
    def forward(self, x, places):
        b = torch.arange(x.shape[0])[:, None]
        return x[b, places] + x.gather(1, places[..., None].expand(-1, -1, x.shape[2]))
