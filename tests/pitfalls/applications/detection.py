"""Detectors, with their preprocessing and postprocessing."""
import itertools
import math
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from cases import case
from kit.boxes import corners, image_size, overlaps

r = torch.randn
BHW = {0: {0: "batch", 2: "h", 3: "w"}}
B = {0: {0: "batch"}}


@case(r(2, 3, 8, 10), r(2, 5, 4), dynamic={0: {0: "batch", 2: "h", 3: "w"}, 1: {0: "batch", 1: "n"}},
      others=[(r(2, 3, 6, 6), r(2, 3, 4) * 20), (r(1, 3, 12, 4), r(1, 9, 4) * 20)])
class BoxesClamped(nn.Module):
    """Clamps boxes to the size of the traced image."""

    def forward(self, image, boxes):
        h, w = image_size(image)
        boxes = corners(boxes)
        x = boxes[..., 0::2].clamp(0, w)
        y = boxes[..., 1::2].clamp(0, h)
        return torch.stack([x, y], -1).flatten(-2)


@case(r(2, 3, 8, 10), r(2, 5, 4), dynamic={0: {0: "batch", 2: "h", 3: "w"}, 1: {0: "batch", 1: "n"}},
      others=[(r(2, 3, 6, 6), r(2, 3, 4) * 20), (r(1, 3, 12, 4), r(1, 9, 4) * 20)])
class BoxesClampedByTensor(nn.Module):
    def forward(self, image, boxes):
        h, w = image.shape[-2:]
        limit = torch.stack([torch.full((), w), torch.full((), h)]).to(boxes.dtype)
        boxes = corners(boxes).unflatten(-1, (2, 2)).clamp(min=0)
        return torch.minimum(boxes, limit).flatten(-2)


@case(r(2, 8, 4, 6), dynamic=BHW, others=[(r(2, 8, 5, 7),), (r(1, 8, 3, 3),)])
class AnchorsByProduct(nn.Module):
    """A Python loop creates one anchor for each cell of the traced feature map."""

    def forward(self, x):
        h, w = x.shape[-2:]
        centres = [(i + 0.5, j + 0.5) for i, j in itertools.product(range(h), range(w))]  # PITFALL: unrolled-loop, in no graph
        return x.mean(1).flatten(1)[..., None] + torch.tensor(centres)


@case(r(2, 8, 4, 6), dynamic=BHW, others=[(r(2, 8, 5, 7),), (r(1, 8, 3, 3),)])
class AnchorsByArange(nn.Module):
    def forward(self, x):
        h, w = x.shape[-2:]
        ys = torch.arange(h, device=x.device) + 0.5
        xs = torch.arange(w, device=x.device) + 0.5
        cells = torch.stack(torch.meshgrid(ys, xs, indexing="ij"), -1).flatten(0, 1)
        return x.mean(1).flatten(1)[..., None] + cells


@dataclass
class Config:
    strides: tuple = (2, 4)
    classes: int = 3
    limit: float = 4.0


@case(r(2, 3, 8, 8), dynamic=B, others=[(r(2, 3, 8, 8),), (r(3, 3, 8, 8),)])
class DecodedByStrides(nn.Module):
    """Correct: the loop runs over the strides of the configuration, with one head for each."""

    def __init__(self, config=Config()):
        super().__init__()
        self.config = config
        self.heads = nn.ModuleList(nn.Conv2d(3, 4 + config.classes, 3, s, 1) for s in config.strides)

    def forward(self, x):
        found = []
        for stride, head in zip(self.config.strides, self.heads):
            y = head(x)
            size = y.shape[-1]
            steps = torch.arange(size) * stride
            box = y[:, :2] + steps.view(1, 1, 1, -1)
            scale = y[:, 2:4].clamp(max=self.config.limit).exp() * stride
            found.append(torch.cat([box, scale, y[:, 4:].sigmoid()], 1).flatten(2))
        return torch.cat(found, -1).transpose(-1, -2)


@case(r(6, 5).abs(), dynamic={0: {0: "n"}}, others=[(r(9, 5).abs() * 9,), (r(7, 5) - 3,)])
class KeptOverThreshold(nn.Module):
    def forward(self, boxes):
        keep = boxes[:, 4] > 0.5
        if keep.sum() == 0:  # PITFALL: traced-branch
            return boxes[:1] * 0
        return boxes[keep]


@case(r(6, 5).abs(), dynamic={0: {0: "n"}}, others=[(r(9, 5).abs() * 9,), (r(7, 5) - 3,)])
class KeptByMask(nn.Module):
    def forward(self, boxes):
        return boxes[boxes[:, 4] > 0.5]


@case(r(6, 5).abs(), dynamic={0: {0: "n"}}, others=[(r(9, 5).abs() * 9,), (r(7, 5),)])
class BestBox(nn.Module):
    def forward(self, boxes):
        best = int(boxes[:, 4].argmax())  # PITFALL: item-baked
        return boxes[best]


@case(r(6, 5).abs(), dynamic={0: {0: "n"}}, others=[(r(9, 5).abs() * 9,), (r(7, 5),)])
class BestBoxByTensor(nn.Module):
    def forward(self, boxes):
        best = boxes[:, 4].argmax()
        return boxes[best], boxes.index_select(0, best.reshape(1))


@case(r(5, 4).abs(), r(5), dynamic={0: {0: "n"}, 1: {0: "n"}},
      others=[(r(9, 4).abs(), r(9)), (r(3, 4).abs(), r(3))])
class SoftSuppressed(nn.Module):
    def forward(self, boxes, scores):
        boxes = corners(boxes)
        by = overlaps(boxes, boxes)
        higher = scores[None, :] > scores[:, None]
        worst = (by * higher).amax(1)
        return scores * torch.exp(-worst ** 2 / 0.5)


@case(r(4, 4).abs(), r(4), dynamic={0: {0: "n"}, 1: {0: "n"}},
      others=[(r(9, 4).abs() * 3, r(9)), (r(3, 4).abs(), r(3))])
class GreedySuppressed(nn.Module):
    """Non-maximum suppression by a loop over the boxes in the order of their scores, which tracing unrolls."""

    def forward(self, boxes, scores):
        boxes = corners(boxes)
        order = scores.argsort(descending=True)
        by = overlaps(boxes, boxes)[order][:, order]
        keep = torch.ones_like(scores)
        rows = []
        for i in range(order.numel()):  # PITFALL: unrolled-loop
            rows.append(keep[i])
            keep = keep * (1 - rows[-1] * (by[i] > 0.3).float() * (torch.arange(keep.shape[0]) > i))
        return torch.stack(rows)


@case(r(2, 3, 9, 12), dynamic=BHW, others=[(r(1, 3, 7, 7),), (r(3, 3, 16, 5),)])
class Letterboxed(nn.Module):
    """Scales an image to fit into a square and pads it; the ratio is that of the traced image."""

    def forward(self, x):
        h, w = x.shape[-2:]
        ratio = 16 / max(h, w)  # PITFALL: traced-branch
        size = (round(h * ratio), round(w * ratio))  # PITFALL: baked-shape
        y = F.interpolate(x, size=size, mode="nearest")
        return F.pad(y, (0, 16 - size[1], 0, 16 - size[0]))


@case(r(2, 3, 9, 12), dynamic=BHW, others=[(r(1, 3, 7, 7),), (r(3, 3, 16, 5),)])
class StretchedToSquare(nn.Module):
    def __init__(self):
        super().__init__()
        self.side = 16

    def forward(self, x):
        y = F.interpolate(x, size=(self.side, self.side), mode="bilinear", align_corners=False)
        return y.unflatten(-1, (4, 4)).unflatten(-3, (4, 4)).mean((-1, -3))


@case((r(2, 3, 6, 6) * 50).to(torch.uint8), dynamic=BHW,
      others=[((r(1, 3, 4, 8) * 50).to(torch.uint8),), ((r(3, 3, 5, 5) * 50).to(torch.uint8),)])
class Preprocessed(nn.Module):
    mean = (0.485, 0.456, 0.406)

    def forward(self, image):
        x = image.float().div(255)
        x = x[:, [2, 1, 0]]
        mean = torch.tensor(self.mean).view(-1, 1, 1)
        std = torch.as_tensor([0.229, 0.224, 0.225], device=x.device)[:, None, None]
        return (x - mean) / std


@case((r(2, 6, 6, 3) * 50).to(torch.uint8), dynamic={0: {0: "batch", 1: "h", 2: "w"}},
      others=[((r(1, 4, 8, 3) * 50).to(torch.uint8),), ((r(3, 5, 5, 3) * 50).to(torch.uint8),)])
class PreprocessedInDouble(nn.Module):
    MEAN = np.array([123.675, 116.28, 103.53])

    def forward(self, image):
        x = image.permute(0, 3, 1, 2).float()
        mean = torch.from_numpy(self.MEAN).view(1, 3, 1, 1)
        return ((x - mean) / 58.0).to(torch.float32)  # PITFALL: float64-promotion


@case((r(2, 6, 6, 3) * 50).to(torch.uint8), dynamic={0: {0: "batch", 1: "h", 2: "w"}},
      others=[((r(1, 4, 8, 3) * 50).to(torch.uint8),), (torch.ones(3, 5, 5, 3, dtype=torch.uint8),)])
class ScaledIfBytes(nn.Module):
    """Divides by 255 if some element is above 1: a branch on data."""

    def forward(self, image):
        x = image.permute(0, 3, 1, 2).float()
        scale = 255.0 if x.max() > 1.0 else 1.0  # PITFALL: traced-branch
        return x.clamp(0, 1) / scale


@case(r(2, 4, 4, 6), dynamic=BHW, others=[(r(2, 4, 5, 5),), (r(1, 4, 8, 3),)])
class FlowWarped(nn.Module):
    """Correct: the sampling grid is computed from the dynamic height and width of the input."""

    def forward(self, x):
        image, flow = x[:, :2], x[:, 2:]
        b, _, h, w = image.shape
        ys, xs = torch.meshgrid(torch.arange(h), torch.arange(w), indexing="ij")
        grid = torch.stack([xs, ys], -1).to(x.dtype) + flow.permute(0, 2, 3, 1)
        scale = torch.stack([torch.full((), w - 1), torch.full((), h - 1)]).to(x.dtype)
        return F.grid_sample(image, grid / scale * 2 - 1, align_corners=True)


@case(r(2, 4, 4, 6), dynamic=BHW, others=[(r(2, 4, 5, 5),), (r(1, 4, 8, 3),)])
class FlowWarpedByTable(nn.Module):
    def forward(self, x):
        image, flow = x[:, :2], x[:, 2:]
        n, _, h, w = tuple(int(s) for s in image.shape)  # PITFALL: baked-shape
        ys, xs = torch.meshgrid(torch.linspace(-1, 1, h), torch.linspace(-1, 1, w), indexing="ij")
        grid = torch.stack([xs, ys], -1)[None].repeat(n, 1, 1, 1) + flow.permute(0, 2, 3, 1)
        return F.grid_sample(image, grid, align_corners=True)


@case(r(2, 3, 8, 8), dynamic=B, others=[(r(2, 3, 8, 8),), (r(5, 3, 8, 8),)])
class AffineOfOneImage(nn.Module):
    """Creates as many sampling grids as there were images in the traced batch."""

    def __init__(self):
        super().__init__()
        self.where = nn.Parameter(r(1, 2, 3))

    def forward(self, x):
        grid = F.affine_grid(self.where.expand(len(x), -1, -1), [len(x), 3, 8, 8], align_corners=False)  # PITFALL: baked-shape
        return F.grid_sample(x, grid, align_corners=False)


@case(r(2, 5, 6, 6), dynamic=BHW, others=[(r(1, 5, 4, 8),), (r(3, 5, 7, 7),)])
class CentresOfMass(nn.Module):
    def forward(self, x):
        b, k, h, w = x.shape
        p = x.flatten(2).softmax(-1).view(b, k, h, w)
        ys = (p.sum(3) * torch.arange(h, dtype=p.dtype)).sum(-1)
        xs = (p.sum(2) * torch.arange(w, dtype=p.dtype)).sum(-1)
        return torch.stack((xs / w, ys / h), -1)


@case(r(2, 5, 6, 6), dynamic=BHW, others=[(r(1, 5, 4, 8),), (r(3, 5, 7, 7),)])
class PeaksOfMaps(nn.Module):
    """Splits flat indices of maxima into x and y by the traced width."""

    def forward(self, x):
        width = int(x.shape[-1])  # PITFALL: baked-shape, in no graph
        place = x.flatten(2).argmax(-1)
        return torch.stack([place % width, place // width], -1)


@case(r(2, 5, 6, 6), dynamic=BHW, others=[(r(1, 5, 4, 8),), (r(3, 5, 7, 7),)])
class PeaksOfMapsRight(nn.Module):
    def forward(self, x):
        width = x.shape[-1]
        place = x.flatten(2).argmax(-1)
        return torch.stack([place % width, torch.div(place, width, rounding_mode="floor")], -1)


@case(r(2, 2, 6, 6), dynamic=BHW, others=[(r(2, 2, 8, 8),), (r(1, 2, 4, 10),)])
class BorderZeroed(nn.Module):
    """Correct: the in-place writes are to slices of the tensor itself, which tracing records."""

    def forward(self, x):
        y = x * 2
        y[:, :, 0] = 0
        y[..., -1:] = 0
        y[:, 0, 1:-1, 1:-1] += 1
        return y


@case(r(2, 2, 6, 6), dynamic=BHW, others=[(r(2, 2, 8, 8),), (r(1, 2, 4, 10),)])
class BorderOfAView(nn.Module):
    def forward(self, x):
        y = x * 2
        inside = y[:, :, 1:-1, 1:-1]
        inside.clamp_(min=0)  # PITFALL: in-place-view-lost
        return y.sum(1)


@case(r(2, 4, 6, 6), dynamic=BHW, others=[(r(2, 4, 8, 8),), (r(1, 4, 4, 10),)])
class HalvesOfChannels(nn.Module):
    def forward(self, x):
        y = x.clone()
        a, b = y.chunk(2, 1)
        a += b  # PITFALL: in-place-view-lost
        return y * b.mean()


@case(r(2, 4, 6, 6), dynamic=BHW, others=[(r(2, 4, 8, 8),), (r(1, 4, 4, 10),)])
class CoupledHalves(nn.Module):
    def forward(self, x):
        a, b = x.chunk(2, 1)
        a = a + b.tanh()
        b = b + a.tanh()
        return torch.cat([a, b], 1)


@case(r(2, 3, 8, 8), dynamic=BHW, others=[(r(2, 3, 16, 8),), (r(1, 3, 4, 4),)])
class PyramidPooled(nn.Module):
    """Correct: global pooling, and pooling with constant kernels over any input size."""

    def forward(self, x):
        found = [F.adaptive_avg_pool2d(x, 1).flatten(1), F.adaptive_max_pool2d(x, 1).flatten(1)]
        for k in (2, 4):
            found.append(F.avg_pool2d(x, k, ceil_mode=True).mean((2, 3)))
        return torch.cat(found, 1)


@case(r(2, 3, 8, 8), dynamic=BHW, others=[(r(2, 3, 16, 8),), (r(1, 3, 4, 4),)])
class GlobalKernel(nn.Module):
    """Pools with a constant kernel of the traced image size instead of over the whole image."""

    def forward(self, x):
        kernel = [int(s) for s in x.size()[2:]]  # PITFALL: baked-shape, in no graph
        return F.avg_pool2d(x, kernel).flatten(1)


@case(r(2, 3, 8, 8), dynamic=BHW, others=[(r(2, 3, 8, 8),), (r(1, 3, 8, 12),)])
class TilesOfFour(nn.Module):
    def forward(self, x):
        p = F.unfold(x, 4, stride=4)
        p = p.transpose(1, 2).reshape(x.shape[0], -1, 3, 4, 4)
        return p.amax((-1, -2))


@case(r(2, 3, 8, 8), dynamic=BHW, others=[(r(2, 3, 4, 8),), (r(3, 3, 8, 12),)])
class GrayOrColour(nn.Module):
    """Correct: the number of channels and the rank are static, so the branches do not depend on the example."""

    def forward(self, x):
        if x.shape[1] == 1:
            x = x.expand(-1, 3, -1, -1)
        if x.ndim == 3:
            x = x[None]
        return x.mean(1, keepdim=True)


@case(r(2, 3, 8, 8), dynamic=BHW, others=[(r(2, 3, 8, 12),), (r(1, 3, 12, 8),)])
class Portrait(nn.Module):
    """Transposes images whose width exceeds their height; tracing records one branch."""

    def forward(self, x):
        h, w = x.shape[2:]
        if h < w:  # PITFALL: traced-branch
            x = x.transpose(2, 3)
        return x.mean(3)


@case(r(2, 9), dynamic={0: {0: "batch", 1: "places"}}, others=[(r(3, 16),), (r(1, 25),)])
class SquareOfPlaces(nn.Module):
    def forward(self, x):
        side = math.isqrt(x.shape[1])  # PITFALL: baked-shape
        return x.reshape(x.shape[0], side, side).transpose(1, 2)


@case(r(2, 9, 4), dynamic={0: {0: "batch"}}, others=[(r(3, 9, 4),), (r(1, 9, 4),)])
class SquareOfNine(nn.Module):
    """Correct: the number of positions is static, so its square root may be a constant."""

    def forward(self, x):
        b, n, c = x.shape
        side = int(n ** 0.5)
        return x.transpose(1, 2).reshape(b, c, side, side)
