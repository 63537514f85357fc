"""Benchmarks of the OpenFlow controller: path set-up time, and its capacity under load."""
