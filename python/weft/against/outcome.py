"""What a simulator says about its run, and whether two of them agree."""

from dataclasses import dataclass

TOLERANCE = 0.03
"""The largest relative deviation with which two runs still count as the same work."""


@dataclass(frozen=True)
class Outcome:
    """Totals of one run."""

    packets: int
    """Data packets sent, repeated ones included."""
    repeated: int
    """Of these, packets sent again."""
    last_us: float
    """When the last flow was acknowledged at its source, in microseconds."""
    finished: int
    """Flows that finished."""


@dataclass(frozen=True)
class Agreement:
    """How far Weft's run of `flows` flows is from the other simulator's."""

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
                found.append(f"{name} finished {outcome.finished} of {self.flows} flows")
        for name, deviation in (("packets", self.packets), ("the last completion", self.last)):
            if abs(deviation) > TOLERANCE:
                found.append(f"{name} {'differs' if name.startswith('the') else 'differ'} by {deviation * 100:+.1f} %")
        return found
