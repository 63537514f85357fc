"""Decision rules of the claims G1 to G5: pure functions of `table.Measured`.

A gain is the geometric mean over rounds of the ratio of measurements in the same round; intervals are 95 % Student t
intervals of the rounds' logarithms, and 90 % ones, as in the paper, in the notes. Rows `-tags` compare tags with the
same program with a table lookup at every hop, the others compare with Open vSwitch.
"""

from collections.abc import Sequence
from statistics import geometric_mean

from ...emulation import openvswitch
from ...emulation.plan import MTU
from ...statistics import CONFIDENCE, Estimate, paired_ratio
from ..base import settled
from ..outcome import StudyRow
from ..rows import beside, not_measured, row, spelled
from . import provisioned
from .setup import ECHO_SIZES, FEW, FLOW_TABLE, LOAD_SIZES, OVS, RULES, TAG_FORWARD
from .table import Measured, by_round, of_peer

AS_PAPER = 0.90
"""The paper's confidence."""
BELOW_MTU, ABOVE_MTU = 0.61, 0.56
"""Minimum reduction of round-trip times in the paper (G1)."""
MORE = 0.40
"""Approximate gain in forwarded packets in the paper (G2)."""
SMALL = tuple(size for size in ECHO_SIZES if size <= MTU)
LARGE = tuple(size for size in ECHO_SIZES if size > MTU)

IN_USER_SPACE = (
    "this kernel has no Open vSwitch datapath, so Open vSwitch forwards in user space, but the paper compares two data"
    " planes in the kernel; the values compare tags in the kernel with Open vSwitch in user space"
)
"""Why the comparison with Open vSwitch differs from the paper's."""

_LOWER, _MORE_UNIT = "% shorter, minimum over sizes", "% more, minimum over sizes"


def judge(runs: Sequence[Measured]) -> list[StudyRow]:
    """The rows, in the order of the paper; no claim fails because other programs used the machine."""
    return [*settled(measured, runs), provisioned.setting(runs), provisioned.state(runs), provisioned.example(runs)]


def measured(runs: Sequence[Measured]) -> list[StudyRow]:
    """The rows that depend on forwarding speed."""
    shorter, more = "round_trip_s", "carried"
    below = "round trips are 61 % shorter than through Open vSwitch, below the MTU"
    above = "round trips are 56 % shorter than through Open vSwitch, above the MTU"
    faster = "40 % more packets per second are forwarded than by Open vSwitch"
    same = "compared with the same switch with a table at every hop"
    return [
        _at_every_size(runs, "G1", below, shorter, SMALL, BELOW_MTU),
        _at_every_size(runs, "G1-fragments", above, shorter, LARGE, ABOVE_MTU),
        _by_tags(runs, "G1-tags", f"tags shorten round trips: {same}", shorter),
        _at_every_size(runs, "G2", faster, more, LOAD_SIZES, MORE),
        _by_tags(runs, "G2-tags", f"tags forward more packets: {same}", more),
        _few(runs),
    ]


def gain(
    runs: Sequence[Measured],
    what: str,
    size: int,
    base: str,
    *,
    peer: str = TAG_FORWARD,
    rules: int = RULES,
    confidence: float = CONFIDENCE,
) -> Estimate | None:
    """The gain of a peer over `base`, as a share: shorter round trips, or more packets."""
    one, other = (by_round(runs, name, what, size, rules) for name in (peer, base))
    return _gained(paired_ratio(one, other, confidence), what)


def _gained(ratio: Estimate | None, what: str) -> Estimate | None:
    """A ratio as a gain: lower is better for round trips, higher for everything else."""
    return None if ratio is None else ratio.shifted(-1).scaled(-1.0 if what == "round_trip_s" else 1.0)


def _at_every_size(
    runs: Sequence[Measured], ident: str, claim: str, what: str, sizes: Sequence[int], least: float
) -> StudyRow:
    """Holds if at every size the whole interval is at `least` or above; the size with the least gain is reported.

    The paper compares two data planes in the kernel. If Open vSwitch forwards in user space, the claim is not measured,
    and the values are those of a different comparison.
    """
    unit = _LOWER if what == "round_trip_s" else _MORE_UNIT
    gains = {size: gain(runs, what, size, OVS) for size in sizes}
    found = {size: one for size, one in gains.items() if one is not None and one.low is not None}
    if len(found) < len(sizes):
        return not_measured(ident, claim, unit, "two rounds of tags and of Open vSwitch are needed")
    worst = min(found, key=lambda size: found[size].mean)
    holds = all((one.low or 0.0) >= least for one in found.values())
    paper = {size: gain(runs, what, size, OVS, confidence=AS_PAPER) for size in sizes}
    notes = [
        "by packet size, with 90 % intervals: "
        + ", ".join(f"{size} B {spelled(one)}" for size, one in paper.items() if one is not None),
        *_due(runs, what, sizes),
    ]
    value = found[worst].scaled(100)
    if any(in_user_space(run) for run in of_peer(runs, OVS)):
        return beside(ident, claim, value, unit, [IN_USER_SPACE, *notes])
    return row(ident, claim, holds, value, unit, notes)


def in_user_space(run: Measured) -> bool:
    """Whether its Open vSwitch forwards in user space."""
    return bool(run.emulated["versions"].get("datapath") == openvswitch.USER_SPACE)


def _due(runs: Sequence[Measured], what: str, sizes: Sequence[int]) -> list[str]:
    """The part of the gain that a kernel switch with a table at every hop also achieves."""
    gains = {size: gain(runs, what, size, OVS, peer=FLOW_TABLE) for size in sizes}
    shares = [f"{size} B {spelled(one)}" for size, one in gains.items() if one is not None]
    return [f"of this, already without tags: {', '.join(shares)}"] if shares else []


def _by_tags(runs: Sequence[Measured], ident: str, claim: str, what: str) -> StudyRow:
    """Holds if the mean gain over all sizes has an interval above zero."""
    sizes = ECHO_SIZES if what == "round_trip_s" else LOAD_SIZES
    unit = "% shorter, mean of all sizes" if what == "round_trip_s" else "% more, mean of all sizes"
    one, other = (_over_sizes(runs, peer, what, sizes) for peer in (TAG_FORWARD, FLOW_TABLE))
    mean = _gained(paired_ratio(one, other), what)
    if mean is None or mean.low is None:
        return not_measured(ident, claim, unit, "two rounds with tags and with a table at every hop are needed")
    each = {size: gain(runs, what, size, FLOW_TABLE) for size in sizes}
    notes = [", ".join(f"{size} B {spelled(one)}" for size, one in each.items() if one is not None)]
    return row(ident, claim, mean.low > 0, mean.scaled(100), unit, notes)


def few_gain(runs: Sequence[Measured], rules: int = RULES) -> Estimate | None:
    """The gain in packets of few flows of tags over a table at every hop, as a share."""
    one, other = (
        {run.round: run.few for run in of_peer(runs, peer) if run.rules == rules} for peer in (TAG_FORWARD, FLOW_TABLE)
    )
    return _gained(paired_ratio(one, other), "carried")


def _few(runs: Sequence[Measured]) -> StudyRow:
    """Holds if the gain's interval is above zero."""
    claim = f"tags also forward more packets of {FEW} flows"
    found, unit = few_gain(runs), f"% more, {LOAD_SIZES[0]} B"
    if found is None or found.low is None:
        return not_measured("G2-few", claim, unit, "two rounds with tags and with a table at every hop are needed")
    return row("G2-few", claim, found.low > 0, found.scaled(100), unit, [])


def _over_sizes(runs: Sequence[Measured], peer: str, what: str, sizes: Sequence[int]) -> dict[int, float]:
    """By round, the geometric mean over all sizes, for rounds with all sizes."""
    each = [by_round(runs, peer, what, size) for size in sizes]
    rounds = set.intersection(*(set(one) for one in each))
    return {number: geometric_mean(one[number] for one in each) for number in rounds}
