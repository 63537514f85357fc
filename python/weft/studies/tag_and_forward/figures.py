"""The paper's figures from our data: round trips and packets per second by packet size, and times to set gates."""

from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from statistics import fmean
from typing import Any

from ...emulation.plan import MTU
from ...figures.layers import axis, beside, estimates, guide, means, names_of, panel
from ...figures.paper import write
from ...palette import Style, styles
from ...statistics import estimate
from .claims import AS_PAPER
from .setup import ECHO_SIZES, FLOW_TABLE, LABELS, LOAD_SIZES, PEERS, TAG_FORWARD
from .table import Measured, by_round, of_peer


def draw(runs: Sequence[Measured], out: Path, formats: Sequence[str]) -> list[Path]:
    """Write ``round-trips`` and ``packets``, with 90 % intervals as in the paper, and ``gates``; returns the files."""
    return _round_trips(runs, out, formats) + _packets(runs, out, formats) + _gates(runs, out, formats)


def _round_trips(runs: Sequence[Measured], out: Path, formats: Sequence[str]) -> list[Path]:
    """All peers, and separately those that use the same program."""
    x = axis("x", "bytes of an IP packet", "count", log="concat_0_x", values=ECHO_SIZES, base=2)
    panels, rows = [], {}
    for table, peers, title in (("all", PEERS, None), ("own", (FLOW_TABLE, TAG_FORWARD), "Weft's switch alone")):
        y = axis("mean", "round trip", "s", **({"log": "concat_0_y"} if table == "all" else {"domainMin": 0}))
        panels.append(panel(table, [guide("x", MTU), *means(list(LABELS.values()), x, y)], title))
        rows[table] = _lines(runs, "round_trip_s", ECHO_SIZES, peers)
    return write(beside(*panels), rows, _looks(), out / "round-trips", formats)


def _packets(runs: Sequence[Measured], out: Path, formats: Sequence[str]) -> list[Path]:
    titles = {"carried": "packets a second", "by_processor": "packets a processor's second"}
    x = axis("x", "bytes of an IP packet", "number")
    layers = means(list(LABELS.values()), x, axis("mean", None, "count", domainMin=0))
    spec = beside(*(panel(what, layers, title) for what, title in titles.items()))
    rows = {what: _lines(runs, what, LOAD_SIZES, PEERS) for what in titles}
    return write(spec, rows, _looks(), out / "packets", formats)


def _gates(runs: Sequence[Measured], out: Path, formats: Sequence[str]) -> list[Path]:
    """Time to set the gates of each switch, cumulative over switches one after the other, and of all in parallel."""
    emulated = next((run.emulated for run in of_peer(runs, TAG_FORWARD) if "gates_in_turn" in run.emulated), None)
    if emulated is None:
        return []
    in_turn, at_once = emulated["gates_in_turn"], emulated["gates_at_once"]
    switches = list(in_turn[0]["switches"])
    each = [fmean(one["switches"][name] for one in in_turn) for name in switches]
    parallel = fmean(one["seconds"] for one in at_once)
    values = {"cumulative": list(accumulate(each)), "per switch": each, "all in parallel": [parallel] * len(each)}
    rows = [
        {"scheme": name, "x": switch, "mean": value}
        for name, found in values.items()
        for switch, value in zip(switches, found, strict=True)
    ]
    x, y = names_of("x", axis={"labelAngle": -90, "grid": False}), axis("mean", "setting gates", "s", domainMin=0)
    spec = beside(panel("gates", means(list(values), x, y)))
    return write(spec, {"gates": rows}, styles(values), out / "gates", formats)


def _looks() -> dict[str, Style]:
    return {LABELS[peer]: look for peer, look in styles(PEERS).items()}


def _lines(runs: Sequence[Measured], what: str, sizes: Sequence[int], peers: Sequence[str]) -> list[dict[str, Any]]:
    rows = []
    for peer in peers:
        found = [(size, estimate(by_round(runs, peer, what, size).values(), AS_PAPER)) for size in sizes]
        rows += estimates(found, scheme=LABELS[peer])
    return rows
