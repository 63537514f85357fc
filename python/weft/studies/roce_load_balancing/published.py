"""Published results.

`SLOWDOWN` is from an independent reproduction of ConWeave with conweave-ns3 (https://github.com/conweave-project/conweave-ns3),
lossless, with one seed; the values at 80 % are approximate.
"""

SLOWDOWN: dict[int, dict[str, tuple[float, float]]] = {
    50: {"ecmp": (1.94, 10.88), "letflow": (1.93, 10.57), "conga": (1.69, 8.10), "conweave": (1.47, 5.35)},
    80: {"ecmp": (7, 40), "letflow": (7, 40), "conga": (4.5, 26), "conweave": (2.8, 13)},
}
"""Mean and 99th percentile by load of the uplinks in per cent and scheme."""

REDUCTION = (42.3, 66.8)
"""Maximum reduction, in per cent, of mean and 99th percentile by ConWeave against the best other scheme (abstract)."""
