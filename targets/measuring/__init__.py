"""Profiles of runtimes, measured in the runtimes themselves."""
