"""The metrics of a comparison: each has one value per run."""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Metric:
    """A column of the summary."""

    key: str
    title: str
    kind: str
    """A kind of quantity, see `weft.quantity.FORMATS`."""
    better: int
    """+1 if higher is better, -1 if lower is better."""
    of_finished: bool = False
    """Whether only finished flows count. Two runs are then compared over the flows that finished in both."""
    quantile: float | None = None
    """The share of flows below the value, if it is a quantile."""
    rare: bool = False
    """Whether it is left out where no group has `least` flows, and is compared only in groups that have them."""

    @property
    def least(self) -> int:
        """Number of flows below which a quantile lies between the two largest values: 101 for p99, 1 001 for p99.9."""
        return 1 if self.quantile is None else math.ceil((2 - self.quantile) / (1 - self.quantile) - 1e-9)


METRICS = (
    Metric("mean_fct_s", "Mean FCT", "s", -1, of_finished=True),
    Metric("median_fct_s", "Median FCT", "s", -1, of_finished=True, quantile=0.5),
    Metric("p99_fct_s", "p99 FCT", "s", -1, of_finished=True, quantile=0.99),
    Metric("p999_fct_s", "p99.9 FCT", "s", -1, of_finished=True, quantile=0.999, rare=True),
    Metric("mean_slowdown", "Slowdown", "ratio", -1, of_finished=True),
    Metric("mean_throughput_bps", "Throughput", "bps", +1, of_finished=True),
    Metric("out_of_order_share", "Out of order", "share", -1),
    Metric("retransmissions", "Retrans. per run", "count", -1),
    Metric("drops", "Drops per run", "count", -1),
)
"""The metrics of the summary, in the order of its columns."""
METRIC_KEYS = tuple(metric.key for metric in METRICS)
COUNTED = ("out_of_order", "first_transmissions_received", "retransmissions", "drops")
"""Flow columns that metrics sum up."""
OF_FINISHED = tuple(metric for metric in METRICS if metric.of_finished)
"""The metrics of finished flows."""
