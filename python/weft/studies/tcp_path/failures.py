"""Decision rule of T11, recovery from a failed link."""

from collections.abc import Sequence

from ...statistics import Estimate
from ..rows import Finding
from . import recovery
from .table import Tables


def other_path(tables: Tables) -> Finding | None:
    """T11 holds if from any number of hops TCP-Path's flow gets another path, and loses frames less long than ECMP's.

    The time grows with the hops that a Path Fail has to travel, and fewer frames are lost than by routes recomputed in
    `recovery.REACTION_MS`.

    One run per link: nothing in them is drawn by chance.
    """
    table = tables.recovery
    moved = recovery.of_scheme(table, "tcp_path", "moved_s")
    if not len(table):
        return None
    losing = {scheme: recovery.of_scheme(table, scheme, "losing_s") for scheme in recovery.SCHEMES}
    lost = {scheme: recovery.of_scheme(table, scheme, "lost") for scheme in recovery.SCHEMES}
    times = list(moved.values())
    holds = len(times) == recovery.LINKS and times == sorted(times)
    holds &= all(
        losing["tcp_path"].get(hops, 0.0) < losing["ecmp"].get(hops, 0.0)
        and lost["tcp_path"].get(hops, lost["ecmp"][hops]) < lost["ecmp"][hops]
        for hops in lost["ecmp"]
    )
    slowest = Estimate(1e6 * max(times), None, None, 1) if times else None
    notes = [
        "TCP-Path's path after 0, 1, ... hops: " + _listed([1e6 * one for one in times], "us"),
        *(
            f"{scheme}: {_listed(list(lost[scheme].values()), 'frames')} lost, the last after "
            f"{_listed([1e3 * one for one in losing[scheme].values()], 'ms')}; the next data after "
            f"{_listed([1e3 * one for one in recovery.of_scheme(table, scheme, 'resumed_s').values()], 'ms')}"
            for scheme in recovery.SCHEMES
        ),
    ]
    return Finding(slowest, holds, notes)


def _listed(values: Sequence[float], unit: str) -> str:
    return f"{', '.join(f'{value:.3g}' for value in values)} {unit}" if values else "never"
