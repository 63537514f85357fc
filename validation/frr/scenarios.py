"""The scenarios of the trial."""

EQUAL = """
[fabric]
kind = "spine-leaf"
spines = 2
leaves = 2
hosts_per_leaf = 2
rate = "10 Gbps"

[traffic]
sizes = { fixed = "30 kB" }
load = 0.1

[scheme]
name = "ecmp"

[run]
duration = "1 ms"
"""
"""Two spines and two leaves with equal links."""

UNEQUAL = """
[fabric]
kind = "spine-leaf"
spines = 2
leaves = 3
hosts_per_leaf = 2
rate = "10 Gbps"

[[fabric.link]]
between = "l0-s1"
rate = "2500 Mbps"

[traffic]
sizes = { fixed = "30 kB" }
load = 0.1

[scheme]
name = "wcmp"

[run]
duration = "1 ms"
"""
"""Two spines and three leaves; a link has a quarter of the rate of the others."""
