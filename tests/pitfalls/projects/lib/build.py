"""Layers by name."""
import torch.nn as nn

LAYERS = {}


def layer(name):
    def register(cls):
        LAYERS[name] = cls
        return cls
    return register


@layer("by_peak")
class ByPeak(nn.Module):
    def forward(self, x):
        return x / x.abs().max().item()  # PITFALL: item-baked of BuiltByName


@layer("by_norm")
class ByNorm(nn.Module):
    def forward(self, x):
        return x / x.norm(dim=-1, keepdim=True).clamp(min=1e-6)


def build(names):
    return nn.Sequential(*[LAYERS[name]() for name in names])
