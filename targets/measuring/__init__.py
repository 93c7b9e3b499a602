"""Measures target profiles by running node tests in runtimes."""
