"""Masks for attention."""
import torch


def causal(n, like):
    return torch.ones(n, n, dtype=torch.bool, device=like.device).tril()


def padding_bias(mask, dtype):
    return (1.0 - mask.to(dtype)) * torch.finfo(dtype).min


def lengths_to_mask(lengths, size):
    return torch.arange(size)[None, :] < lengths[:, None]
