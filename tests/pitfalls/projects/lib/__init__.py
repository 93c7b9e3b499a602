"""Blocks, masks and shape functions that the projects share, as a package like in user projects."""
from .blocks import FlattenWith, Pool, Residual
from .masks import causal, padding_bias
from .shapes import batch_and_rest, merged, tokens_of

__all__ = ["FlattenWith", "Pool", "Residual", "batch_and_rest", "causal", "merged", "padding_bias", "tokens_of"]
