"""Benchmarks that span several parts of the repository."""
