"""Benchmark of path sets beside what NetworkX offers (docs/path-sets.md)."""
