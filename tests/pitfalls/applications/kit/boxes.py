"""Boxes, grids and anchors."""
import torch


def corners(boxes):
    cx, cy, w, h = boxes.unbind(-1)
    return torch.stack([cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2], -1)


def image_size(image):
    *_, h, w = image.shape
    return int(h), int(w)  # PITFALL: baked-shape of BoxesClamped, in no graph


def overlaps(a, b):
    top = torch.max(a[:, None, :2], b[None, :, :2])
    low = torch.min(a[:, None, 2:], b[None, :, 2:])
    wide = (low - top).clamp(min=0)
    both = wide[..., 0] * wide[..., 1]
    areas = [(x[:, 2] - x[:, 0]) * (x[:, 3] - x[:, 1]) for x in (a, b)]
    return both / (areas[0][:, None] + areas[1][None] - both).clamp(min=1e-6)
