"""Parts of text models: masks, caches, positions, sampling, and branches that depend on them."""
import math
from typing import NamedTuple, Optional

import torch
import torch.nn as nn
import torch.nn.functional as F

from cases import case
from kit.layers import Apply, Chain, Described, Masked, Stateless, normalised, positions, split_heads

r = torch.randn
BT = {0: {0: "batch", 1: "time"}}
B = {0: {0: "batch"}}
ids = torch.tensor


@case(r(2, 4, 8), r(2, 3, 8), dynamic={0: {0: "batch", 1: "past"}, 1: {0: "batch", 1: "new"}},
      others=[(r(3, 6, 8), r(3, 2, 8)), (r(1, 2, 8), r(1, 5, 8))])
class CacheAppended(nn.Module):
    """Correct: appends new keys to the cache; the causal mask is made for the total length."""

    def forward(self, past, new):
        keys = torch.cat([past, new], 1)
        total, fresh = keys.shape[1], new.shape[1]
        keep = torch.ones(total, total, dtype=torch.bool).tril()[-fresh:]
        scores = new @ keys.transpose(1, 2) / math.sqrt(new.shape[-1])
        return scores.masked_fill(~keep, float("-inf")).softmax(-1) @ keys, keys


@case(r(2, 4, 8), r(2, 3, 8), dynamic={0: {0: "batch", 1: "past"}, 1: {0: "batch", 1: "new"}},
      others=[(r(3, 6, 8), r(3, 3, 8)), (r(1, 2, 8), r(1, 3, 8))])
class CacheOffset(nn.Module):
    def __init__(self):
        super().__init__()
        self.place = nn.Embedding(32, 8)

    def forward(self, past, new):
        offset = int(past.shape[1])  # PITFALL: baked-shape, in no graph
        places = torch.arange(offset, offset + new.shape[1])
        return torch.cat([past, new + self.place(places)], 1)


@case(r(2, 4, 8), r(2, 3, 8), dynamic={0: {0: "batch", 1: "past"}, 1: {0: "batch", 1: "new"}},
      others=[(r(3, 6, 8), r(3, 2, 8)), (r(1, 2, 8), r(1, 5, 8))])
class CacheOffsetRight(nn.Module):
    def __init__(self):
        super().__init__()
        self.place = nn.Embedding(32, 8)

    def forward(self, past, new):
        places = torch.arange(new.shape[1]) + past.shape[1]
        return torch.cat([past, new + self.place(places)], 1)


@case(r(2, 5, 8), dynamic=BT, others=[(r(2, 9, 8),), (r(1, 3, 8),)])
class MaskKept(nn.Module):
    """Creates the mask on first use, with the traced length as a constant."""

    def __init__(self):
        super().__init__()
        self.mask: Optional[torch.Tensor] = None

    def forward(self, x):
        if self.mask is None:
            n = int(x.size(1))  # PITFALL: baked-shape
            self.mask = torch.full((n, n), float("-inf")).triu(1)
        y = (x @ x.transpose(-1, -2) + self.mask).softmax(-1) @ x
        self.mask = None
        return y


@case(r(2, 5, 8), dynamic=BT, others=[(r(2, 9, 8),), (r(1, 3, 8),)])
class MaskGrown(nn.Module):
    """Correct: the mask is larger than any input, and is sliced to the input length."""

    def __init__(self):
        super().__init__()
        self.register_buffer("mask", torch.full((16, 16), float("-inf")).triu(1), persistent=False)

    def forward(self, x):
        n = x.size(1)
        return (x @ x.transpose(-1, -2) + self.mask[:n, :n]).softmax(-1) @ x


@case(r(2, 5, 4).half(), (torch.rand(2, 5) > 0.3), dynamic={0: {0: "batch", 1: "time"}, 1: {0: "batch", 1: "time"}},
      others=[(r(3, 7, 4).half(), torch.rand(3, 7) > 0.3), (r(1, 3, 4).half(), torch.ones(1, 3) > 0)])
class HalfFilledBelow(nn.Module):
    """Correct: the mask is filled with -65504, the lowest finite float16."""

    def forward(self, x, keep):
        scores = x @ x.transpose(-1, -2)
        return scores.masked_fill(~keep[:, None], -65504.0).softmax(-1)


@case(r(2, 5, 4).half(), (torch.rand(2, 5) > 0.3), dynamic={0: {0: "batch", 1: "time"}, 1: {0: "batch", 1: "time"}},
      others=[(r(3, 7, 4).half(), torch.rand(3, 7) > 0.3), (r(1, 3, 4).half(), torch.ones(1, 3) > 0)])
class HalfMinusMillion(nn.Module):
    def forward(self, x, keep):
        inverted = 1.0 - keep[:, None].to(x.dtype)
        return (x @ x.transpose(-1, -2) + inverted * -1000000.0).softmax(-1)  # PITFALL: constant-overflow, in no source


@case(r(2, 5, 4).half(), (torch.rand(2, 5) > 0.3), dynamic={0: {0: "batch", 1: "time"}, 1: {0: "batch", 1: "time"}},
      others=[(r(3, 7, 4).half(), torch.rand(3, 7) > 0.3), (r(1, 3, 4).half(), torch.ones(1, 3) > 0)])
class HalfThroughFloat(nn.Module):
    """Correct: the mask of -1e9 is added in float32, whose range includes it."""

    def forward(self, x, keep):
        scores = (x @ x.transpose(-1, -2)).float() + (1.0 - keep[:, None].float()) * -1e9
        return scores.softmax(-1).to(x.dtype)


@case(ids([[3, 4, 0], [5, 0, 0]]), dynamic=BT,
      others=[(ids([[1, 0, 0, 0], [2, 3, 4, 5]]),), (ids([[1, 2, 3]]),)])
class LastToken(nn.Module):
    """Correct: takes the last token that is not padding, by tensor indices."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(8, 4)

    def forward(self, tokens):
        x = self.words(tokens)
        last = (tokens != 0).sum(1) - 1
        return x[torch.arange(x.shape[0]), last]


@case(ids([[3, 4, 0], [5, 0, 0], [1, 2, 3]]), dynamic=BT,
      others=[(ids([[1, 0, 0, 0], [2, 3, 4, 5]]),), (ids([[1, 2, 3]]),)])
class LastTokenOfEach(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(8, 4)

    def forward(self, tokens):
        x = self.words(tokens)
        ends = (tokens != 0).sum(1)
        return torch.stack([row[end - 1] for row, end in zip(x, ends)])  # PITFALL: unrolled-loop


@case(ids([[3, 4, 0], [5, 0, 0]]), dynamic=BT,
      others=[(ids([[1, 0, 0, 0], [2, 3, 4, 5]]),), (ids([[1, 2, 3]]),)])
class TrimmedToLongest(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(8, 4)

    def forward(self, tokens):
        ends = (tokens != 0).sum(1).tolist()  # PITFALL: item-baked
        return self.words(tokens[:, :max(ends)]).sum(1)


@case(ids([[3, 4, 0], [5, 0, 0]]), dynamic=BT,
      others=[(ids([[1, 0, 0, 0], [2, 3, 4, 5]]),), (ids([[1, 2, 3]]),)])
class SummedOverPadding(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(8, 4, padding_idx=0)

    def forward(self, tokens):
        x = self.words(tokens)
        return x.sum(1) / (tokens != 0).sum(1, keepdim=True).clamp(min=1).sqrt()


@case(ids([[1, 5, 2, 6]]), dynamic=BT, others=[(ids([[5, 1, 1, 1, 1], [1, 1, 5, 1, 1]]),), (ids([[5, 2]]),)])
class AfterSeparator(nn.Module):
    """Sums the tokens from the first separator on; its position becomes a constant."""

    def forward(self, tokens):
        place = (tokens[0] == 5).nonzero()[0].item()  # PITFALL: item-baked
        return tokens[:, place:].sum(1)


@case(ids([[1, 5, 2, 6]]), dynamic=BT, others=[(ids([[5, 1, 1, 1, 1], [1, 1, 5, 1, 1]]),), (ids([[5, 2]]),)])
class AfterSeparatorByMask(nn.Module):
    def forward(self, tokens):
        behind = (tokens == 5).cumsum(1) > 0
        return (tokens * behind).sum(1)


@case(r(2, 5, 4), dynamic=BT, others=[(r(3, 8, 4),), (r(1, 3, 4),)])
class PlacesByFunction(nn.Module):
    """Correct: a function computes the position table from the dynamic length and the width."""

    def forward(self, x):
        return x + positions(x.size(1), x.size(2))


@case(r(2, 5, 4), dynamic=BT, others=[(r(3, 8, 4),), (r(1, 3, 4),)])
class PlacesByNumbers(nn.Module):
    def forward(self, x):
        _, n, d = map(int, x.size())  # PITFALL: baked-shape
        return x + positions(n, d)


@case(r(2, 6, 4), dynamic=BT, others=[(r(3, 8, 4),), (r(1, 4, 4),)])
class Relabelled(nn.Module):
    """Correct: swaps neighboring positions by stacking two slices of a view in reverse order."""

    def forward(self, x):
        pairs = x.unflatten(1, (-1, 2))
        return torch.stack([pairs[:, :, 1], pairs[:, :, 0]], 2).flatten(1, 2)


@case(r(2, 6, 4), dynamic=BT, others=[(r(3, 9, 4),), (r(1, 3, 4),)])
class LocalMask(nn.Module):
    """Correct: the mask is a band around the diagonal with a constant width."""

    width = 2

    def forward(self, x):
        place = torch.arange(x.shape[1])
        near = (place[:, None] - place[None]).abs() <= self.width
        return (x @ x.transpose(-1, -2)).masked_fill(~near, -1e9).softmax(-1)


@case(r(2, 6, 4), dynamic=BT, others=[(r(3, 9, 4),), (r(1, 3, 4),)])
class LocalWindowByLoop(nn.Module):
    """Averages each position and its neighbors in a loop over the positions, which tracing unrolls."""

    def forward(self, x):
        n = x.shape[1]
        rows = []
        for i in range(n):  # PITFALL: unrolled-loop
            lo, hi = max(0, i - 1), min(n, i + 2)
            rows.append(x[:, lo:hi].mean(1))
        return torch.stack(rows, 1)


@case(r(2, 6, 4), dynamic=BT, others=[(r(3, 9, 4),), (r(1, 3, 4),)])
class LocalMean(nn.Module):
    def forward(self, x):
        y = F.avg_pool1d(x.transpose(-1, -2), 3, stride=1, padding=1, count_include_pad=False)
        return y.transpose(-1, -2)


@case(r(2, 8, 4), dynamic=BT, others=[(r(3, 16, 4),), (r(1, 4, 4),)])
class ShiftedWindowMask(nn.Module):
    """Attention in shifted windows; the mask is made for the traced number of windows."""

    def forward(self, x):
        b, n, d = x.shape
        count = int(n) // 4  # PITFALL: baked-shape
        mask = torch.zeros(count, 4, 4)
        mask[-1, :2, 2:] = -100.0
        y = x.roll(-2, 1).view(b, -1, 4, d)
        return (y @ y.transpose(-1, -2) + mask).softmax(-1)


@case(r(2, 5, 8), dynamic=BT, others=[(r(3, 7, 8),), (r(1, 2, 8),)])
class HeadsByHelper(nn.Module):
    def forward(self, x):
        q = split_heads(x, 2)
        y = F.scaled_dot_product_attention(q, q, q)
        return y.transpose(1, 2).flatten(2)


@case(r(2, 5, 8), dynamic=BT, others=[(r(3, 7, 8),), (r(1, 2, 8),)])
class MaskThatMayBe(nn.Module):
    """Correct: the branch depends on whether an optional argument is given, not on data."""

    def forward(self, x, mask: Optional[torch.Tensor] = None, scale: Optional[float] = None):
        scores = x @ x.transpose(-1, -2)
        if mask is not None:
            scores = scores + mask
        if scale is None:
            scale = 1 / math.sqrt(x.size(-1))
        return (scores * scale).softmax(-1) @ x


@case(r(2, 5, 8), r(2, 5) > -9, dynamic={0: {0: "batch", 1: "time"}, 1: {0: "batch", 1: "time"}},
      others=[(r(3, 7, 8), r(3, 7) > 0), (r(1, 2, 8), ids([[True, False]]))])
class MaskUnlessAllTrue(nn.Module):
    def forward(self, x, mask):
        scores = x @ x.transpose(-1, -2)
        if mask is not None and not bool(mask.all()):  # PITFALL: traced-branch
            scores = scores.masked_fill(~mask[:, None], -1e9)
        return scores.softmax(-1) @ x


@case(r(2, 5, 8), r(2, 5) > -9, dynamic={0: {0: "batch", 1: "time"}, 1: {0: "batch", 1: "time"}},
      others=[(r(3, 7, 8), r(3, 7) > 0), (r(1, 2, 8), ids([[True, False]]))])
class ChainWithMask(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = Chain(nn.Linear(8, 4), nn.ReLU(), Masked(), nn.Linear(4, 2))

    def forward(self, x, mask):
        return self.layers(x, mask)


@case(r(2, 5, 8), dynamic=BT, others=[(r(3, 7, 8),), (r(1, 2, 8),)])
class DescribedByMixin(Described, nn.Module):
    def forward(self, x):
        b, t = self.describe(x)
        return x.reshape(b * t, -1).softmax(-1).reshape(b, t, -1)


@case(r(2, 5, 8), dynamic=BT, others=[(r(3, 7, 8),), (r(1, 2, 8),)])
class DescribedByNumbers(Described, nn.Module):
    def describe(self, x):
        b, t = super().describe(x)
        return int(b), int(t)  # PITFALL: baked-shape

    def forward(self, x):
        b, t = self.describe(x)
        return x.reshape(b * t, -1).softmax(-1).reshape(b, t, -1)


@case(r(2, 5, 8), dynamic=BT, others=[(r(3, 7, 8) * 9,), (r(1, 2, 8) / 9,)])
class NormalisedByDefault(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = Apply(normalised)

    def forward(self, x):
        return self.norm(x)


@case(r(2, 5, 8), dynamic=BT, others=[(r(3, 7, 8) * 9,), (r(1, 2, 8) / 9,)])
class NormalisedByLength(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = Apply(normalised, how="length")

    def forward(self, x):
        return self.norm(x)


@case(r(2, 5, 8), dynamic=BT, others=[(r(3, 7, 8) * 9,), (r(1, 2, 8) / 9,)])
class FinishedByPeak(Stateless):
    def transform(self, x):
        return x.relu()

    def finish(self, y):
        peak = y.max()
        return y / float(peak)  # PITFALL: item-baked


@case(r(2, 5, 8), dynamic=BT, others=[(r(3, 7, 8) * 9,), (r(1, 2, 8) / 9,)])
class FinishedByTensor(Stateless):
    def transform(self, x):
        return x.abs()

    def finish(self, y):
        return y / y.amax((1, 2), keepdim=True)


class Scores(NamedTuple):
    logits: torch.Tensor
    best: torch.Tensor


@case(r(2, 5, 8), dynamic=BT, others=[(r(3, 7, 8),), (r(1, 2, 8),)])
class NamedResults(nn.Module):
    def forward(self, x):
        y = x.mean(1)
        return Scores(logits=y, best=y.argmax(-1))


@case(r(2, 5), dynamic=BT, others=[(r(3, 7) * 4,), (r(1, 9) * 9,)])
class NucleusSampled(nn.Module):
    """Correct: top-p sampling, which keeps the most probable tokens by sorting."""

    def forward(self, logits):
        values, order = logits.sort(-1, descending=True)
        keep = values.softmax(-1).cumsum(-1) - values.softmax(-1) < 0.9
        kept = torch.where(keep, values, torch.full_like(values, -1e9))
        return torch.zeros_like(logits).scatter(-1, order, kept)


@case(r(1, 5), dynamic=BT, others=[(r(1, 7) * 4,), (r(1, 9) * 9,)])
class NucleusCounted(nn.Module):
    def forward(self, logits):
        values, order = logits.sort(-1, descending=True)
        count = int((values.softmax(-1).cumsum(-1) < 0.9).sum()) + 1  # PITFALL: item-baked
        return values[:, :count].softmax(-1)


@case(ids([[1, 2, 3], [3, 2, 1]]), dynamic=BT, others=[(ids([[0, 1], [2, 2], [5, 4]]),), (ids([[7, 7, 7, 7]]),)])
class HotByComparison(nn.Module):
    def forward(self, tokens):
        hot = tokens[..., None] == torch.arange(8)
        return hot.float().mean(1)


@case(ids([[1, 2, 3], [3, 2, 1]]), dynamic=BT, others=[(ids([[0, 1], [3, 2], [1, 1]]),), (ids([[3, 3, 3, 3]]),)])
class HotWithoutDepth(nn.Module):
    @staticmethod
    def hot(tokens, **kwargs):
        return F.one_hot(tokens, **kwargs)  # PITFALL: one-hot-depth, in no source

    def forward(self, tokens):
        return self.hot(tokens).float().mean(1)
