"""Claim T9: the spine-leaf at 10 Mbps simulated, and emulated with real Linux hosts and switches.

4-4-20 with links of 10 Mbps, web search at 10 to 40 % load, the paper's schemes, on the same flows; the simulator's
hosts have the profile `linux`. The paper compared ns-3 and Mininet by eye; here a class agrees if the ratio of the
means, emulated over simulated, is within `SAME` of 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...results import Results
from ...scenario import Scenario
from ..agreement import LABELS, SAME, Cell, EmulatedRun, above, cells, compared, describe, pairs, ran
from ..base import Emulated, Part, Simulated, Study, saturation, settled
from ..outcome import Outcome, Size, StudyRow
from ..rows import not_measured, row
from .scenarios import PAPER_SCHEMES, Setup, text

SIMULATED, EMULATED = "simulated", "emulated"


@dataclass(frozen=True)
class Extent:
    """Extent of a size: loads, seeds, and seconds in which flows start, which emulation takes in real time."""

    loads: tuple[float, ...]
    seeds: int
    seconds: float


EXTENTS = {
    Size.quick: Extent((0.4,), 1, 60),
    Size.standard: Extent((0.1, 0.2, 0.4), 1, 240),
    Size.paper: Extent((0.1, 0.2, 0.4), 10, 1800),
}
"""The paper: 10 runs of 1800 s, of which 800 to 1400 s count. The shorter runs here count from the first fifth on,
since hosts need no warm-up."""


def scenario(size: Size) -> Scenario:
    """The scenario for simulation and emulation."""
    extent = EXTENTS[size]
    setup = Setup(
        what="emulation",
        sizes="web-search",
        seeds=extent.seeds,
        seconds=extent.seconds / 100,
        schemes=PAPER_SCHEMES,
        loads=extent.loads,
        mbps=10,
        profile="linux",
        scheme_keys=('exploration = "valley-free"',),
    )
    return Scenario.from_text(text(setup), "tcp-path-emulation.toml")


class TcpPathEmulated(Study):
    """Claim T9, with real hosts."""

    name = "tcp-path-emulated"
    summary = "TCP-Path, TFE and ECMP on 4-4-20 at 10 Mbps: real Linux hosts and switches compared with the simulator"
    chosen = (
        "Hosts cache addresses. Queues of 100 packets, segments are not coalesced (hosts and links have no GSO). "
        "Simulated links have 1 us of delay, emulated ones only the kernel's processing delay."
    )

    def parts(self, size: Size) -> list[Part]:
        """The same scenario simulated and emulated."""
        both = scenario(size)
        return [Simulated(SIMULATED, both), Emulated(EMULATED, both)]

    def judge(self, results: dict[str, Results]) -> Outcome:
        """T9 for elephants and rabbits, and for mice."""
        if not {SIMULATED, EMULATED} <= results.keys():
            return Outcome(_rows([]), [])
        simulated, emulated = results[SIMULATED], results[EMULATED]
        found, runs = cells(pairs(simulated, emulated)), ran(emulated)

        def judge(chosen: Sequence[EmulatedRun]) -> list[StudyRow]:
            if not chosen:
                return _rows([])
            part = cells(pairs(simulated, emulated.only({run.id for run in chosen})))
            # A claim about all loads and schemes is not judged on a subset.
            return _rows(part if compared(part) == compared(found) else [])

        return Outcome(settled(judge, runs), [*saturation(runs), *(describe(cell) for cell in found)])

    def draw(self, results: dict[str, Results], out: Path, formats: Sequence[str]) -> list[Path]:
        """The ratios of emulated to simulated means, by class, load and scheme."""
        from ...figures.agreement import draw

        found = cells(pairs(results[SIMULATED], results[EMULATED]))
        return draw(found, SAME, LABELS, out / "agreement", formats)


CLAIMS = (
    ("T9", "simulation and Linux emulation agree at 10 Mbps: rabbits and elephants", ("rabbit", "elephant")),
    ("T9b", "mice do not agree: burstier, and faster in emulation", ("mouse",)),
)


def _rows(found: list[Cell]) -> list[StudyRow]:
    return [_row(ident, text, classes, found) for ident, text, classes in CLAIMS]


_PLURALS = {"mouse": "mice", "rabbit": "rabbits", "elephant": "elephants"}


def _row(ident: str, claim: str, classes: tuple[str, ...], found: list[Cell]) -> StudyRow:
    """T9 holds if all ratios of its classes are within `SAME` of 1, T9b if emulated mice are faster by more."""
    judged = [
        (cell, name, one)
        for cell in found
        if cell.klass in classes
        for name, one in cell.ratios.items()
        if cell.flows > 1
    ]
    unit = "% emulated above simulated, largest"
    if not judged:
        return not_measured(ident, claim, unit, "no flow of these classes finished")
    cell, name, worst = max(judged, key=lambda item: abs(item[2].mean - 1))
    if ident == "T9":
        holds = all(abs(one.mean - 1) <= SAME for _, _, one in judged)
    else:
        holds = all(one.mean < 1 - SAME for _, measure, one in judged if measure == "fct_s")
    within = sum(abs(one.mean - 1) <= SAME for _, _, one in judged)
    note = (
        f"{within} of {len(judged)} means within {100 * SAME:.0f} %; "
        f"largest: {LABELS[name]} of {_PLURALS[cell.klass]}, {cell.scheme}, {cell.point}"
    )
    return row(ident, claim, holds, above(worst), unit, [note])
