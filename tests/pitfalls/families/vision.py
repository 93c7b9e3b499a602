"""Parts of image models, written as in real models: most are correct, some have a typical mistake."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

from cases import case

r = torch.randn
IMG = {0: {0: "batch", 2: "height", 3: "width"}}
B = {0: {0: "batch"}}


@case(r(1, 3, 16, 16), dynamic=IMG, others=[(r(2, 3, 32, 16),), (r(1, 3, 48, 48),)])
class PatchesWithResizedPlaces(nn.Module):
    def __init__(self):
        super().__init__()
        self.patch = nn.Conv2d(3, 4, 4, 4)
        self.places = nn.Parameter(r(1, 4, 4, 4))

    def forward(self, x):
        x = self.patch(x)
        places = F.interpolate(self.places, size=x.shape[-2:], mode="bilinear", align_corners=False)
        return (x + places).flatten(2).transpose(1, 2)


@case(r(1, 3, 16, 16), dynamic=IMG, others=[(r(2, 3, 32, 16),), (r(1, 3, 8, 8),)])
class SkipsOfTheSameSize(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Conv2d(3, 4, 3, 1, 1), nn.Conv2d(4, 4, 3, 2, 1), nn.Conv2d(8, 2, 1)

    def forward(self, x):
        a = self.a(x).relu()
        b = self.b(a).relu()
        up = F.interpolate(b, size=a.shape[2:], mode="nearest")
        return self.c(torch.cat([a, up], 1))


@case(r(1, 3, 16, 16), dynamic=IMG, others=[(r(2, 3, 24, 16),), (r(1, 3, 9, 11),)])
class PyramidOfPools(nn.Module):
    def __init__(self):
        super().__init__()
        self.sides = nn.ModuleList(nn.Conv2d(3, 2, 1) for _ in range(3))

    def forward(self, x):
        out = [x]
        for k, side in zip((1, 2, 4), self.sides):
            pooled = side(F.adaptive_avg_pool2d(x, 1)) * k
            out.append(pooled.expand(-1, -1, x.shape[2], x.shape[3]))
        return torch.cat(out, 1)


@case(r(2, 6, 4, 4), dynamic=B, others=[(r(3, 6, 4, 4),)])
class DetectionHead(nn.Module):
    """Correct: the feature map has a static size, so anchors and cells of that size fit every input."""

    def __init__(self):
        super().__init__()
        y, x = torch.meshgrid(torch.arange(4.0), torch.arange(4.0), indexing="ij")
        self.register_buffer("cells", torch.stack([x, y], -1)[None, None])
        self.register_buffer("anchors", torch.tensor([[1.0, 2.0], [2.0, 1.0]])[None, :, None, None])

    def forward(self, x):
        x = x.view(-1, 2, 3, 4, 4).permute(0, 1, 3, 4, 2)
        place = (x[..., :2].sigmoid() + self.cells) * self.anchors
        return torch.cat([place, x[..., 2:].sigmoid()], -1).reshape(x.shape[0], -1, 3)


@case(r(2, 6, 4, 4), dynamic={0: {0: "batch", 2: "height", 3: "width"}}, others=[(r(3, 6, 4, 4),), (r(2, 6, 5, 6),)])
class DetectionHeadOfAnySize(nn.Module):
    """The grid has the traced size, but the height and width of the input are dynamic."""

    def __init__(self):
        super().__init__()
        y, x = torch.meshgrid(torch.arange(4.0), torch.arange(4.0), indexing="ij")
        self.register_buffer("cells", torch.stack([x, y])[None])

    def forward(self, x):
        return x[:, :2].sigmoid() + self.cells  # PITFALL: baked-shape


@case(r(2, 6, 4, 4), dynamic={0: {0: "batch", 2: "height", 3: "width"}}, others=[(r(3, 6, 4, 4),), (r(2, 6, 5, 6),)])
class GridFromTheTensor(nn.Module):
    def forward(self, x):
        h, w = x.shape[-2:]
        y, x0 = torch.meshgrid(torch.arange(h), torch.arange(w), indexing="ij")
        return x[:, :2] + torch.stack([x0, y]).float()


@case(r(1, 2, 5, 7) > 0, dynamic={0: {0: "batch", 2: "h", 3: "w"}}, others=[(r(2, 2, 3, 4) > 0,)])
class SinePlaces(nn.Module):
    def forward(self, mask):
        keep = (~mask[:, 0]).float()
        y, x = keep.cumsum(1), keep.cumsum(2)
        y = y / (y[:, -1:] + 1e-6) * 2 * math.pi
        x = x / (x[:, :, -1:] + 1e-6) * 2 * math.pi
        rates = 10000 ** (2 * (torch.arange(4) // 2) / 4)
        a, b = y[..., None] / rates, x[..., None] / rates
        a = torch.stack((a[..., 0::2].sin(), a[..., 1::2].cos()), -1).flatten(3)
        b = torch.stack((b[..., 0::2].sin(), b[..., 1::2].cos()), -1).flatten(3)
        return torch.cat((a, b), 3).permute(0, 3, 1, 2)


@case(r(2, 4, 6, 6), dynamic=IMG, others=[(r(3, 4, 5, 7),), (r(1, 4, 8, 8),)])
class SqueezeAndExcite(nn.Module):
    def __init__(self):
        super().__init__()
        self.down, self.up = nn.Linear(4, 2), nn.Linear(2, 4)

    def forward(self, x):
        b, c, _, _ = x.size()
        scale = self.up(self.down(x.mean((2, 3))).relu()).sigmoid().view(b, c, 1, 1)
        return x * scale.expand_as(x)


@case(r(2, 4, 6, 6), r(2, 4, 3, 3), r(2, 4, 2, 2), dynamic={i: {0: "batch"} for i in range(3)},
      others=[(r(3, 4, 6, 6), r(3, 4, 3, 3), r(3, 4, 2, 2))])
class FusedScales(nn.Module):
    def __init__(self):
        super().__init__()
        self.weights = nn.Parameter(torch.ones(3))

    def forward(self, a, b, c):
        scales = [F.interpolate(x, size=(6, 6), mode="nearest") for x in (a, b, c)]
        w = self.weights.softmax(0)
        return sum(w[i] * scale for i, scale in enumerate(scales))


@case([r(1, 4, 8, 8), r(1, 4, 4, 4), r(1, 4, 2, 2), r(1, 4, 1, 1)])
class TopDownDecoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.side = nn.ModuleList(nn.Conv2d(4, 4, 1) for _ in range(4))

    def forward(self, maps):
        out = self.side[-1](maps[-1])
        results = [out]
        for level, side in zip(maps[:-1][::-1], self.side[:-1][::-1]):
            out = side(level) + F.interpolate(out, size=level.shape[-2:], mode="nearest")
            results.insert(0, out)
        return tuple(results)


@case(r(2, 4, 5, 3), dynamic={0: {0: "batch", 2: "queries"}}, others=[(r(3, 4, 7, 3),)])
class FourLevels(nn.Module):
    """Correct: the loop runs over four levels, which are an input axis of static size."""

    def __init__(self):
        super().__init__()
        self.register_buffer("shapes", torch.tensor([8.0, 4.0, 2.0, 1.0]))

    def forward(self, x):
        total = 0
        for level in range(4):
            total = total + (x[:, level] / self.shapes[level]).sigmoid().exp() * 0.25
        return total


@case(r(2, 3, 6, 6), dynamic=IMG, others=[(r(3, 3, 5, 7),), (r(1, 3, 8, 8),)])
class SpaceToDepth(nn.Module):
    def forward(self, x):
        x = F.pad(x, (0, -x.shape[3] % 2, 0, -x.shape[2] % 2))
        b, c, h, w = x.shape
        x = x.reshape(b, c, h // 2, 2, w // 2, 2)
        return x.permute(0, 3, 5, 1, 2, 4).reshape(b, 4 * c, h // 2, w // 2)


@case(r(1, 2, 8, 8), dynamic={0: {0: "batch"}}, others=[(r(2, 2, 8, 8),), (r(3, 2, 8, 8),)])
class ShiftedWindows(nn.Module):
    def __init__(self):
        super().__init__()
        mask = torch.zeros(4, 16, 16)
        mask[1] = -100.0
        self.register_buffer("mask", mask)

    def forward(self, x):
        b, c, h, w = x.shape
        x = torch.roll(x, (-2, -2), (2, 3)).view(b, c, 2, 4, 2, 4).permute(0, 2, 4, 3, 5, 1).reshape(-1, 16, c)
        scores = x @ x.transpose(1, 2)
        scores = scores.view(b, 4, 16, 16) + self.mask[None]
        return scores.view(-1, 16, 16).softmax(-1)


@case(r(2, 3, 4, 4), dynamic=B, others=[(r(3, 3, 4, 4),), (r(1, 3, 4, 4),)])
class NormalisedImage(nn.Module):
    def forward(self, x):
        mean = torch.tensor([0.485, 0.456, 0.406]).view(1, 3, 1, 1)
        std = torch.tensor([0.229, 0.224, 0.225]).view(1, 3, 1, 1)
        return (x - mean) / std
