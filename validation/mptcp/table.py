"""The table: each case's figures, the kernel's beside ours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from weft.statistics import Estimate, estimate

from .cases import Case
from .series import Observed, back_s, mean_bps, share, stopped_s

_TAIL_S = 1.0
"""Before the end, that is left out: of two connections one begins a little later."""


@dataclass(frozen=True)
class Row:
    """A figure of a case.

    Attributes:
        case: Its name.
        what: What was measured, with its unit.
        kernel: Over the emulated runs.
        ours: Over the simulated ones.
        runs: Of each; a run in which it never happened is in no mean.
    """

    case: str
    what: str
    kernel: Estimate | None
    ours: Estimate | None
    runs: int

    @property
    def apart(self) -> str:
        """How far ours is from the kernel's."""
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
        figures.append(("both, Mbps", lambda run: sum(_mbps(run, name, case.seconds) for name in run)))
    elif case.cut_s is None:
        figures.append((f"of {case.capacity_bps / 1e6:.1f} Mbps", lambda run: _mbps(run, "mptcp", case.seconds)))
    else:
        cut = case.cut_s
        figures.append(("nothing arrives, s", lambda run: stopped_s(run["mptcp"], cut)))
        figures.append(("until the other link is full, s", lambda run: back_s(run["mptcp"], cut)))
    return [
        Row(case.name, what, estimate(map(read, kernel)), estimate(map(read, ours)), len(ours))
        for what, read in figures
    ]


def _mbps(run: Observed, name: str, seconds: float) -> float:
    return mean_bps(run[name], end_s=seconds - _TAIL_S) / 1e6


def markdown(found: Sequence[Row], about: str) -> str:
    """The page."""
    lines = [
        "# Goodput, shares and failures, Weft and Linux",
        "",
        f"Written by `python -m validation.mptcp`, which [README.md](README.md) explains. {about}",
        "",
        "| case | what | Linux | Weft | apart |",
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
