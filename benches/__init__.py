"""Benchmarks that need more than one of the rooms."""
