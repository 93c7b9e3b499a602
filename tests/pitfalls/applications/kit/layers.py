"""Base classes and functions for the layers of the applications."""
import torch
import torch.nn as nn


class Described:
    """A mixin with the method `describe`, which returns the batch size and the length of an input."""

    def describe(self, x):
        batch, time = x.shape[:2]
        return batch, time


class Stateless(nn.Module):
    """Calls `transform`, then `finish` if a derived class defines it."""

    finish = None

    def forward(self, x, *more):
        y = self.transform(x, *more)
        return self.finish(y) if self.finish is not None else y

    def transform(self, x):
        return x


class Chain(nn.Sequential):
    """A sequence of layers that passes the mask to the layers that accept one."""

    def forward(self, x, mask=None):
        for layer in self:
            x = layer(x, mask) if getattr(layer, "wants_mask", False) else layer(x)
        return x


class Masked(nn.Module):
    wants_mask = True

    def forward(self, x, mask):
        if mask is None:
            return x
        return x * mask.unsqueeze(-1).to(x.dtype)


class Apply(nn.Module):
    def __init__(self, function, *args, **kwargs):
        super().__init__()
        self.function, self.args, self.kwargs = function, args, kwargs

    def forward(self, x):
        return self.function(x, *self.args, **self.kwargs)


def normalised(x, how="peak"):
    if how == "peak":
        return x / x.abs().max().item()  # PITFALL: item-baked of NormalisedByDefault
    return x / x.norm(dim=-1, keepdim=True)


def split_heads(x, heads):
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


def positions(length, width):
    place = torch.arange(length).unsqueeze(1)
    rate = torch.exp(torch.arange(0, width, 2) * (-4.0 / width))
    table = torch.zeros(length, width)
    table[:, 0::2] = torch.sin(place * rate)
    table[:, 1::2] = torch.cos(place * rate)
    return table
