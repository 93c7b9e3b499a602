"""Functions that split and merge axes."""
import torch


def batch_and_rest(x):
    sizes = list(x.size())
    return int(sizes[0]), sizes[1] * sizes[2]  # PITFALL: baked-shape of BatchFromAPackage


def tokens_of(x):
    b, c, h, w = x.shape
    return x.reshape(b, c, h * w).transpose(1, 2)


def merged(x, first, last):
    """Merges the axes from `first` to `last` into one, as nn.Flatten does."""
    sizes = x.shape
    count = 1
    for s in sizes[first:last + 1]:
        count = count * s
    return x.reshape(*sizes[:first], count, *sizes[last + 1:])


def longest(lengths: torch.Tensor) -> int:
    return int(lengths.max())  # PITFALL: item-baked of LengthsFromAPackage
