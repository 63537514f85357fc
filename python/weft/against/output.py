"""Reads what `htsim_uec` and `htsim_roce` print."""

import math
import re
from collections.abc import Iterable

from .errors import PeerError
from .outcome import Outcome

_FINISHED = re.compile(r"\bfinished at (\S+)")
"""In microseconds."""
_ROCE_PACKETS = re.compile(r"\btotal bytes (\d+)")
"""`htsim_roce` prints the number of a flow's packets as its bytes."""
_TOTALS = re.compile(r"^New: (\d+) Rtx: (\d+)")


def _time(text: str, line: str, program: str) -> float:
    """A time in microseconds above 0."""
    try:
        time = float(text)
    except ValueError:
        time = math.nan
    if not 0 < time < math.inf:
        raise PeerError(f"{program}: not a time: `{text}` in `{line.strip()}`", begun=True)
    return time


def completions(lines: Iterable[str], program: str) -> list[float]:
    """When the flows of a run of `program` finished, in microseconds. Raises `PeerError` if a time cannot be read."""
    return [_time(found[1], line, program) for line in lines if (found := _FINISHED.search(line))]


def read(lines: Iterable[str], program: str) -> Outcome:
    """The outcome of a run of `program`. Raises `PeerError` if the text has no totals or no flow finished."""
    last, finished, packets = 0.0, 0, 0
    totals: re.Match[str] | None = None
    for line in lines:
        if found := _FINISHED.search(line):
            last = max(last, _time(found[1], line, program))
            finished += 1
            if counted := _ROCE_PACKETS.search(line):
                packets += int(counted[1])
        elif line.startswith("New: "):
            totals = _TOTALS.match(line)
    if totals is None:
        raise PeerError(f"{program} printed no line `New: … Rtx: …`: it did not reach its end", begun=True)
    repeated = int(totals[2])
    # htsim_roce does not count new packets.
    new = packets if program == "htsim_roce" else int(totals[1])
    if finished == 0 or new == 0:
        raise PeerError(f"{program} finished no flow", begun=True)
    return Outcome(new + repeated, repeated, last, finished)
