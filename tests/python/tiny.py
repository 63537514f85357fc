"""A scenario for tests."""

TINY = """
name = "tiny"

[fabric]
kind = "spine-leaf"
spines = 2
leaves = 2
hosts_per_leaf = 2
rate = "1 Gbps"
delay = "5 us"

[traffic]
sizes = { fixed = "30 kB" }
load = 0.3

[scheme]
name = "ecmp"

[run]
duration = "5 ms"
seeds = 2

[sweep]
"scheme.name" = ["ecmp", "spray"]
"""
"""A scenario that takes almost no time to run."""
