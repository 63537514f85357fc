"""What a simulator says about its runs, and whether two simulators agree."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from .. import quantity
from ..labels import plural

TOLERANCE = 0.03
"""The largest relative deviation with which two runs still count as the same work."""


@dataclass(frozen=True)
class Outcome:
    """Totals of one run, or their means over runs."""

    packets: float
    """Data packets sent, repeated ones included."""
    repeated: float
    """Of these, packets sent again."""
    last_us: float
    """When the last flow was acknowledged at its source, in microseconds."""
    finished: int
    """Flows that finished; of several runs, in the one with the fewest."""


def mean(outcomes: Sequence[Outcome]) -> Outcome:
    """The mean of runs with different seeds: the last of a thousand flows alone varies by some per cent."""
    return Outcome(
        statistics.fmean(one.packets for one in outcomes),
        statistics.fmean(one.repeated for one in outcomes),
        statistics.fmean(one.last_us for one in outcomes),
        min(one.finished for one in outcomes),
    )


@dataclass(frozen=True)
class Agreement:
    """How far Weft's runs of `flows` flows are from the other simulator's."""

    flows: int
    ours: Outcome
    theirs: Outcome

    @property
    def packets(self) -> float:
        """Weft's packets relative to the other's, less 1."""
        return self.ours.packets / self.theirs.packets - 1

    @property
    def last(self) -> float:
        """Weft's last completion relative to the other's, less 1."""
        return self.ours.last_us / self.theirs.last_us - 1

    @property
    def holds(self) -> bool:
        """Whether both finished all flows, and packets and last completion agree within `TOLERANCE`."""
        return not self.reasons

    @property
    def reasons(self) -> list[str]:
        """Why the runs are not the same work; empty if they are."""
        found = []
        for name, outcome in (("Weft", self.ours), ("htsim", self.theirs)):
            if outcome.finished < self.flows:
                found.append(f"{name} finished {outcome.finished} of {plural(self.flows, 'flow')}")
        for name, deviation in (("packets differ", self.packets), ("the last completion differs", self.last)):
            if abs(deviation) > TOLERANCE:
                found.append(f"{name} by {quantity.change(deviation)}")
        return found
