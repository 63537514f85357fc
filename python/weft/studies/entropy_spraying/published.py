"""Results of csg-htsim (https://github.com/Broadcom/csg-htsim), read off its plots.

The plots are in `experiments/fattree-spraying`.
"""

HOSTS = (432, 1024, 2000, 3456, 8192)
"""Fat-trees of 12, 16, 20, 24 and 32 ports."""

LAST_US: dict[int, tuple[float, ...]] = {
    1: (963, 1038, 1093, 1204, 1278),
    8: (315, 329, 316, 329, 328),
    32: (250, 253, 255, 251, 251),
    64: (253, 244, 235, 235, 233),
    256: (253, 244, 234, 231, 221),
}
"""Completion of the last flow by entropies, for `HOSTS`; means of four seeds (`spray_comparison`)."""

QUANTILES = ("p50", "p99", "max")

DISTRIBUTION_HOSTS = 8192
DISTRIBUTION_US: dict[tuple[str, int], tuple[float, float, float]] = {
    ("large", 256): (209, 232, 247),
    ("trim", 256): (209, 217, 223),
    ("ecn", 256): (208, 212, 217),
    ("large", 32): (240, 281, 300),
    ("trim", 32): (226, 240, 252),
    ("ecn", 32): (216, 225, 231),
}
"""Median, 99th percentile and maximum by kind of queue and entropies; one seed (`oblivious_trim_ecn`). These runs end
after 300 us, so 300 is a lower bound."""
