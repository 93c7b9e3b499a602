"""Parts of image models: grids, crops, scales, windows."""
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

import lib
from cases import case

r = torch.randn
BHW = {0: {0: "batch", 2: "h", 3: "w"}}


@case(r(2, 4, 8, 8), dynamic=BHW, others=[(r(1, 4, 4, 12),), (r(3, 4, 12, 8),)])
class Windows(nn.Module):
    def forward(self, x):
        b, c, h, w = x.shape
        y = x.permute(0, 2, 3, 1).reshape(b, h // 4, 4, w // 4, 4, c)
        y = y.permute(0, 1, 3, 2, 4, 5).reshape(-1, 16, c)
        return y - y.mean(1, keepdim=True)


def window_reverse(windows, size, h, w):
    b = int(windows.shape[0] / (h * w / size / size))  # PITFALL: baked-shape of WindowsThereAndBack
    x = windows.view(b, h // size, w // size, size, size, -1)
    return x.permute(0, 1, 3, 2, 4, 5).contiguous().view(b, h, w, -1)


@case(r(2, 8, 8, 4), dynamic={0: {0: "batch"}}, others=[(r(1, 8, 8, 4),), (r(3, 8, 8, 4),)])
class WindowsThereAndBack(nn.Module):
    def forward(self, x):
        b, h, w, c = x.shape
        y = x.view(b, h // 4, 4, w // 4, 4, c).permute(0, 1, 3, 2, 4, 5).reshape(-1, 4, 4, c)
        return window_reverse(y.softmax(-1), 4, h, w)


@case(r(1, 3, 4, 6), dynamic=BHW, others=[(r(2, 3, 5, 7),), (r(1, 3, 8, 3),)])
class CoordinatesAdded(nn.Module):
    def forward(self, x):
        b, _, h, w = x.size()
        ys = torch.arange(h).view(1, 1, h, 1).expand(b, 1, h, w) / (h - 1)
        xs = torch.arange(w).view(1, 1, 1, w).expand(b, 1, h, w) / (w - 1)
        return torch.cat([x, ys, xs], 1)


@case(r(1, 3, 4, 6), dynamic=BHW, others=[(r(2, 3, 5, 7),), (r(1, 3, 8, 3),)])
class MeshOfNumPy(nn.Module):
    def forward(self, x):
        h, w = x.shape[-2:]
        grid = np.stack(np.meshgrid(np.arange(w), np.arange(h)))  # PITFALL: numpy-constant
        return x.mean(1, keepdim=True) + torch.from_numpy(grid).float()[None]


@case(r(1, 6, 4, 6), dynamic=BHW, others=[(r(2, 6, 5, 7),), (r(1, 6, 8, 3),)])
class GridMadeAnew(nn.Module):
    """Correct: creates a new grid if the size differs, so tracing records the creation of the grid."""

    def __init__(self):
        super().__init__()
        self.grid = torch.zeros(1)

    def forward(self, x):
        b, _, ny, nx = x.shape
        y = x.view(b, 2, 3, ny, nx).permute(0, 1, 3, 4, 2)
        if self.grid.shape[2:4] != y.shape[2:4]:
            self.grid = self.make_grid(nx, ny)
        return y[..., :2] + self.grid

    @staticmethod
    def make_grid(nx, ny):
        yv, xv = torch.meshgrid(torch.arange(ny), torch.arange(nx), indexing="ij")
        return torch.stack((xv, yv), 2).view(1, 1, ny, nx, 2).float()


@case(r(1, 6, 4, 6), dynamic=BHW, others=[(r(2, 6, 5, 7),), (r(1, 6, 8, 3),)])
class GridKept(nn.Module):
    """The grid is created with the model, for one image size."""

    def __init__(self):
        super().__init__()
        yv, xv = torch.meshgrid(torch.arange(4), torch.arange(6), indexing="ij")
        self.register_buffer("grid", torch.stack((xv, yv), 2).view(1, 4, 6, 2).float())

    def forward(self, x):
        y = x.permute(0, 2, 3, 1)
        return y[..., :2].sigmoid() + self.grid  # PITFALL: baked-shape


class Down(nn.Module):
    def __init__(self, a, b):
        super().__init__()
        self.conv = nn.Conv2d(a, b, 3, 2, 1)

    def forward(self, x):
        return F.relu(self.conv(x))


@case(r(1, 3, 32, 32), dynamic=BHW, others=[(r(2, 3, 32, 64),), (r(1, 3, 64, 32),)])
class FeaturePyramid(nn.Module):
    def __init__(self):
        super().__init__()
        self.stages = nn.ModuleList([Down(3, 4), Down(4, 4), Down(4, 4), Down(4, 4)])
        self.lateral = nn.ModuleList(nn.Conv2d(4, 2, 1) for _ in range(4))

    def forward(self, x):
        maps = []
        for stage in self.stages:
            x = stage(x)
            maps.append(x)
        maps = [layer(m) for layer, m in zip(self.lateral, maps)]
        for i in range(len(maps) - 1, 0, -1):
            maps[i - 1] = maps[i - 1] + F.interpolate(maps[i], scale_factor=2, mode="nearest")
        return tuple(maps)


@case(r(1, 2, 7, 9), r(1, 3, 3, 4), dynamic={0: {0: "batch", 2: "h", 3: "w"}, 1: {0: "batch", 2: "h2", 3: "w2"}},
      others=[(r(2, 2, 9, 8), r(2, 3, 4, 4)), (r(1, 2, 5, 6), r(1, 3, 2, 3))])
class PadToSkip(nn.Module):
    def forward(self, skip, x):
        x = F.interpolate(x, scale_factor=2, mode="nearest")
        dy, dx = skip.size(2) - x.size(2), skip.size(3) - x.size(3)
        x = F.pad(x, [dx // 2, dx - dx // 2, dy // 2, dy - dy // 2])
        return torch.cat([skip, x], 1)


@case(r(1, 2, 7, 9), r(1, 3, 3, 4), dynamic={0: {0: "batch", 2: "h", 3: "w"}, 1: {0: "batch", 2: "h2", 3: "w2"}},
      others=[(r(2, 2, 8, 8), r(2, 3, 4, 4)), (r(1, 2, 6, 7), r(1, 3, 2, 3))])
class PadToSkipByInt(nn.Module):
    def forward(self, skip, x):
        x = F.interpolate(x, scale_factor=2, mode="nearest")
        dy = int(skip.size(2) - x.size(2))  # PITFALL: baked-shape, in no graph
        dx = int(skip.size(3) - x.size(3))
        x = F.pad(x, [dx // 2, dx - dx // 2, dy // 2, dy - dy // 2])
        return torch.cat([skip, x], 1)


@case(r(1, 3, 10, 12), dynamic=BHW, others=[(r(2, 3, 8, 8),), (r(1, 3, 14, 10),)])
class CentreCrop(nn.Module):
    def forward(self, x):
        h, w = x.shape[-2:]
        top, left = int(round((h - 6) / 2.0)), int(round((w - 6) / 2.0))  # PITFALL: baked-shape
        return x[..., top:top + 6, left:left + 6]


@case(r(1, 3, 10, 12), dynamic=BHW, others=[(r(2, 3, 8, 8),), (r(1, 3, 14, 10),)])
class CentreCropByDivision(nn.Module):
    def forward(self, x):
        h, w = x.shape[-2:]
        top, left = (h - 6) // 2, (w - 6) // 2
        return x[..., top:top + 6, left:left + 6]


@case(r(1, 3, 10, 12), dynamic=BHW, others=[(r(2, 3, 8, 9),), (r(1, 3, 14, 10),)])
class ToMultipleOfFour(nn.Module):
    def forward(self, x):
        h, w = x.shape[2], x.shape[3]
        size = (math.ceil(h / 4) * 4, math.ceil(w / 4) * 4)  # PITFALL: baked-shape, in no graph
        return F.interpolate(x, size=size, mode="bilinear", align_corners=False)


@case(r(1, 3, 10, 12), dynamic=BHW, others=[(r(2, 3, 8, 8),), (r(1, 3, 14, 10),)])
class ToEightByEight(nn.Module):
    def forward(self, x):
        return F.interpolate(x, size=(8, 8), mode="bilinear", align_corners=False).flatten(2)


@case(r(1, 3, 8, 8), dynamic=BHW, others=[(r(2, 3, 4, 12),), (r(1, 3, 6, 6),)])
class LikeAnother(nn.Module):
    def forward(self, x):
        small = F.avg_pool2d(x, 2)
        return x - F.interpolate(small, size=x.shape[-2:], mode="nearest")


@case(r(1, 3, 6, 8), dynamic=BHW, others=[(r(2, 3, 4, 12),), (r(1, 3, 8, 6),)])
class HalvesByView(nn.Module):
    def forward(self, x):
        b, c, h, w = x.shape
        x = x.view(b, c, h // 2, 2, w // 2, 2)
        return x.permute(0, 1, 3, 5, 2, 4).reshape(b, c * 4, h // 2, w // 2)


@case(r(2, 4, 5, 5), dynamic=BHW, others=[(r(1, 4, 3, 7),), (r(3, 4, 8, 4),)])
class InstanceNormByFunction(nn.Module):
    def forward(self, x):
        return F.instance_norm(x) * 0.5


@case(r(2, 4, 5, 5), dynamic=BHW, others=[(r(1, 4, 3, 7),), (r(3, 4, 8, 4),)])
class AdaptiveInstanceNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.InstanceNorm2d(4, affine=True, track_running_stats=False)
        self.style = nn.Linear(4, 4)

    def forward(self, x):
        scale = self.style(x.mean((2, 3)))
        return self.norm(x) * scale[:, :, None, None]


@case(r(2, 4, 5, 5), dynamic=BHW, others=[(r(1, 4, 3, 7),), (r(3, 4, 8, 4),)])
class NormInGroups(nn.Module):
    def forward(self, x):
        b, c, h, w = x.shape
        y = x.reshape(b, 2, -1)
        y = (y - y.mean(-1, keepdim=True)) / (y.var(-1, keepdim=True, unbiased=False) + 1e-5).sqrt()
        return y.reshape(b, c, h, w)


@case(r(2, 4, 5, 5), dynamic=BHW, others=[(r(1, 4, 3, 7),), (r(3, 4, 8, 4),)])
class DropsAlways(nn.Module):
    def forward(self, x):
        return F.dropout(x.relu(), 0.3)  # PITFALL: training-mode


@case(r(2, 4, 5, 5), dynamic=BHW, others=[(r(1, 4, 3, 7),), (r(3, 4, 8, 4),)])
class DropsInTraining(nn.Module):
    def forward(self, x):
        return F.dropout(x.relu(), 0.3, training=self.training)


@case(r(2, 4, 8, 8), dynamic=BHW, others=[(r(1, 4, 4, 12),), (r(3, 4, 8, 4),)])
class PatchesAsserted(nn.Module):
    """Correct: the assertion holds for every valid input."""

    def __init__(self):
        super().__init__()
        self.proj = nn.Conv2d(4, 6, 4, 4)

    def forward(self, x):
        _, c, h, w = x.shape
        assert h % 4 == 0 and w % 4 == 0, f"{h}x{w} is not a multiple of 4"
        return self.proj(x).flatten(2).transpose(1, 2)


@case(r(2, 4, 8, 8), dynamic=BHW, others=[(r(1, 4, 4, 12),), (r(3, 4, 8, 4),)])
class RaisesOfOthers(nn.Module):
    def forward(self, x):
        if x.shape[1] != 4:
            raise ValueError(f"four channels, not {x.shape[1]}")
        if x.dim() not in (3, 4):
            raise ValueError("an image, or some")
        return x.sum(1)


@case(r(2, 9, 4), dynamic={0: {0: "batch", 1: "tokens"}}, others=[(r(1, 9, 4),), (r(2, 16, 4),), (r(1, 4, 4),)])
class PlacesIfOthers(nn.Module):
    def __init__(self):
        super().__init__()
        self.pos = nn.Parameter(r(1, 9, 4))

    def forward(self, x):
        return x + self.places(x)

    def places(self, x):
        n = x.shape[1]
        if n == self.pos.shape[1]:  # PITFALL: traced-branch
            return self.pos
        side = int(math.sqrt(n))
        grid = self.pos.reshape(1, 3, 3, 4).permute(0, 3, 1, 2)
        return F.interpolate(grid, size=(side, side), mode="nearest").flatten(2).transpose(1, 2)


@case(r(2, 4, 4), dynamic={0: {0: "batch"}}, others=[(r(1, 4, 4),), (r(3, 4, 4),)])
class ClassRepeated(nn.Module):
    def __init__(self):
        super().__init__()
        self.token = nn.Parameter(r(1, 1, 4))

    def forward(self, x):
        return torch.cat([self.token.repeat(len(x), 1, 1), x], 1)  # PITFALL: baked-shape


@case(r(2, 4, 4), dynamic={0: {0: "batch"}}, others=[(r(1, 4, 4),), (r(3, 4, 4),)])
class ClassExpanded(nn.Module):
    def __init__(self):
        super().__init__()
        self.token = nn.Parameter(r(1, 1, 4))

    def forward(self, x):
        return torch.cat([self.token.expand(x.shape[0], -1, -1), x], 1)


@case(r(1, 5, 4), dynamic={0: {1: "boxes"}}, others=[(r(1, 30, 4),), (r(1, 12, 4),)])
class BestBoxes(nn.Module):
    def forward(self, boxes):
        k = min(10, boxes.shape[1])  # PITFALL: traced-branch
        return boxes[..., 0].topk(k, dim=1).values


@case(r(1, 20, 4), dynamic={0: {0: "batch"}}, others=[(r(2, 20, 4),), (r(3, 20, 4),)])
class BestOfTwenty(nn.Module):
    def forward(self, boxes):
        k = min(10, boxes.shape[1])
        return boxes[..., 0].topk(k, dim=1).values


@case(r(1, 3, 6, 8), dynamic=BHW, others=[(r(2, 3, 4, 12),), (r(1, 3, 8, 6),)])
class ScaleOfBoxes(nn.Module):
    def forward(self, x):
        size = torch.tensor([x.shape[3], x.shape[2]])  # PITFALL: numpy-constant
        return x.mean((2, 3))[:, :2] * size


@case(r(1, 3, 6, 8), dynamic={0: {0: "batch"}}, others=[(r(2, 3, 6, 8),), (r(3, 3, 6, 8),)])
class ImagesOfOneSize(nn.Module):
    """Correct: height and width are static, so they may be constants."""

    def forward(self, x):
        h, w = int(x.shape[2]), int(x.shape[3])
        ys = torch.linspace(-1, 1, h).view(h, 1)
        xs = torch.linspace(-1, 1, w).view(1, w)
        count = int(np.prod(x.shape[2:]))
        return (x * ys * xs).reshape(-1, 3, count)


@case(r(2, 4, 6, 6), dynamic={0: {0: "batch"}}, others=[(r(1, 4, 6, 6),), (r(3, 4, 6, 6),)])
class TokensFromAPackage(nn.Module):
    def forward(self, x):
        return lib.tokens_of(x).softmax(1)


@case(r(1, 3, 16, 16), dynamic={0: {0: "batch"}}, others=[(r(2, 3, 16, 16),)])
class HeadsOfManyScales(nn.Module):
    """Correct: the loop applies one head to four scales, a number that is fixed by the model."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 4, 3, padding=1)
        self.head = nn.Conv2d(4, 2, 1)

    def forward(self, x):
        maps = [self.stem(x)]
        for _ in range(3):
            maps.append(F.max_pool2d(maps[-1], 2))
        found = [self.head(m).flatten(2) for m in maps]
        return torch.cat(found, -1)
