import torch


def points(feature, stride):
    height, width = feature.shape[-2:]
    found = []
    for y in range(height):
        for x in range(width):
            found.append([(x + 0.5) * stride, (y + 0.5) * stride])
    return torch.tensor(found)


def grid(feature, stride):
    y = (torch.arange(feature.shape[-2]) + 0.5) * stride
    x = (torch.arange(feature.shape[-1]) + 0.5) * stride
    return torch.stack(torch.meshgrid(x, y, indexing="xy"), -1).flatten(0, 1)
