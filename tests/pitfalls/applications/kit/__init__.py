"""Layers and box functions that the applications share."""
