"""Benchmark of path sets against NetworkX (docs/path-sets.md)."""
