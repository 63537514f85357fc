"""The table: each case's figures from the kernel and from Weft."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from weft.statistics import Estimate, estimate

from .cases import Case
from .series import Observed, back_s, mean_bps, share, stopped_s

_TAIL_S = 1.0
"""Time excluded at the end, since one of two connections starts slightly later."""


@dataclass(frozen=True)
class Row:
    """A figure of a case.

    Attributes:
        case: Its name.
        what: The quantity, with its unit.
        kernel: Estimate from the emulated runs.
        ours: Estimate from the simulated runs.
        runs: Number of each; a run in which it never happened is excluded from the mean.
    """

    case: str
    what: str
    kernel: Estimate | None
    ours: Estimate | None
    runs: int

    @property
    def apart(self) -> str:
        """The difference of ours from the kernel's."""
        if self.kernel is None or self.ours is None:
            return "–"
        difference = self.ours.mean - self.kernel.mean
        if self.what.endswith("Mbps"):
            return f"{100 * difference / self.kernel.mean:+.1f} %"
        return f"{difference:+.2f}"


def rows(case: Case, kernel: Sequence[Observed], ours: Sequence[Observed]) -> list[Row]:
    """The figures of a case."""
    figures: list[tuple[str, Callable[[Observed], float | None]]] = []
    if case.beside:
        figures.append(("share of the link", lambda run: share(run, case.seconds - _TAIL_S)))
        figures.append(("total, Mbps", lambda run: sum(_mbps(run, name, case.seconds) for name in run)))
    elif case.cut_s is None:
        figures.append((f"of {case.capacity_bps / 1e6:.1f} Mbps", lambda run: _mbps(run, "mptcp", case.seconds)))
    else:
        cut = case.cut_s
        figures.append(("stall, s", lambda run: stopped_s(run["mptcp"], cut)))
        figures.append(("until the other link is full, s", lambda run: back_s(run["mptcp"], cut)))
    return [
        Row(case.name, what, estimate(map(read, kernel)), estimate(map(read, ours)), len(ours))
        for what, read in figures
    ]


def _mbps(run: Observed, name: str, seconds: float) -> float:
    return mean_bps(run[name], end_s=seconds - _TAIL_S) / 1e6


def markdown(found: Sequence[Row], about: str) -> str:
    """The page in Markdown."""
    lines = [
        "# Goodput, shares and failures, Weft and Linux",
        "",
        f"Written by `python -m validation.mptcp`; see [README.md](README.md). {about}",
        "",
        "| case | quantity | Linux | Weft | difference |",
        "|---|---|---|---|---|",
        *(
            f"| {row.case} | {row.what} | {_text(row.kernel, row.runs)} | {_text(row.ours, row.runs)} | {row.apart} |"
            for row in found
        ),
    ]
    return "\n".join(lines) + "\n"


def _text(one: Estimate | None, runs: int) -> str:
    if one is None:
        return "never"
    never = f", never in {runs - one.n} of {runs}" if one.n < runs else ""
    return f"{one.mean:.2f}" + ("" if one.half is None else f" ±{one.half:.2f}") + never
