"""The differences of matched runs, and the number of flows that they are of."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .difference import Difference, difference
from .matching import Match, alike, over_seeds
from .metrics import Metric


@dataclass(frozen=True)
class Shared:
    """Numbers of flows of matched runs, over all seeds; of several runs of a seed, the mean counts."""

    flows: float
    """Flows that finished under both schemes; if the runs do not have the same flows, the scheme's finished flows."""
    unfinished: float
    """The scheme's flows that did not finish."""
    baseline_unfinished: float
    """The baseline's flows that did not finish."""


def shared(matches: Sequence[Match]) -> Shared:
    """The numbers of flows of some matches."""
    return Shared(
        over_seeds(matches, lambda match: match.flows),
        over_seeds(matches, lambda match: match.own["flows"] - match.own["finished"]),
        over_seeds(matches, lambda match: match.baseline["flows"] - match.baseline["finished"]),
    )


def differences(matches: Sequence[Match], metrics: Iterable[Metric]) -> dict[str, Difference | None]:
    """How each metric differs from the baseline's, paired by seed; None without a seed that has both values."""
    counts = shared(matches)
    left_out = counts.unfinished, counts.baseline_unfinished
    return {
        metric.key: difference(
            *alike(matches, metric.key), left_out if metric.of_finished else (0, 0), kind=metric.kind
        )
        for metric in metrics
    }
