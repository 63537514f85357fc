"""Benchmarks of the Linux switch, as ratios to other switches in the same run (benches/switch/README.md)."""
