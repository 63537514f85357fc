"""Interleaved rounds of a case: both programs in alternating order, and the ratios of their CPU time and memory."""

import statistics
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from . import ours, theirs
from .cases import MATRIX, Case
from .matrix import Matrix
from .outcome import Agreement, Outcome, mean
from .process import Usage

Notify = Callable[[str, bool], None]
"""Called with the name of a run when it starts (False) and when it has ended (True)."""


@dataclass(frozen=True)
class Round:
    """One run of each."""

    ours: ours.Run
    theirs: Usage

    @property
    def ratio(self) -> float:
        """CPU time of htsim relative to that of `weft run`."""
        return self.theirs.cpu_seconds / self.ours.usage.cpu_seconds


@dataclass(frozen=True)
class Comparison:
    """The rounds of a case."""

    case: Case
    rounds: tuple[Round, ...]
    agreement: Agreement

    @property
    def ratios(self) -> list[float]:
        """The ratio of each round."""
        return [one.ratio for one in self.rounds]

    @property
    def ratio(self) -> float:
        """The median ratio."""
        return statistics.median(self.ratios)

    @property
    def ours_seconds(self) -> float:
        """Median CPU time of `weft run`."""
        return statistics.median(one.ours.usage.cpu_seconds for one in self.rounds)

    @property
    def engine_seconds(self) -> float:
        """Median CPU time of Weft's engine alone."""
        return statistics.median(one.ours.engine_seconds for one in self.rounds)

    @property
    def theirs_seconds(self) -> float:
        """Median CPU time of htsim."""
        return statistics.median(one.theirs.cpu_seconds for one in self.rounds)

    @property
    def ours_memory(self) -> float:
        """Median peak memory of `weft run` in bytes."""
        return statistics.median(one.ours.usage.peak_memory_bytes for one in self.rounds)

    @property
    def theirs_memory(self) -> float:
        """Median peak memory of htsim in bytes."""
        return statistics.median(one.theirs.peak_memory_bytes for one in self.rounds)

    @property
    def memory_ratio(self) -> float:
        """Peak memory of htsim relative to that of `weft run`."""
        return self.theirs_memory / self.ours_memory


def runs(case: Case, rounds: int) -> int:
    """The number of runs that `compare` makes."""
    return rounds * (3 if case.program in theirs.SILENCED else 2)


def compare(case: Case, program: Path, rounds: int, notify: Notify, seconds: float | None = None) -> Comparison:
    """Measure a case, each round with a seed of its own. Raises `PeerError` if one of the programs fails.

    `seconds` limits each run of htsim; None: `theirs.limit` does.
    """
    matrix = case.matrix()
    silent = case.program in theirs.SILENCED
    own: list[ours.Run] = []
    usages: list[Usage] = []
    outcomes: dict[str, list[Outcome]] = {"weft": [], "htsim": []}

    def weft(seed: int) -> None:
        with _prepared(matrix, f"{case.name}, weft", notify) as folder:
            own.append(ours.run(case, seed, folder))
            outcomes["weft"].append(ours.outcome(folder))

    def htsim(seed: int) -> None:
        with _prepared(matrix, f"{case.name}, htsim", notify) as folder:
            usage = theirs.run(case, seed, program, matrix, folder, seconds=seconds, silent=False)
            outcomes["htsim"].append(theirs.outcome(case, folder))
        if silent:
            with _prepared(matrix, f"{case.name}, htsim silenced", notify) as folder:
                usage = theirs.run(case, seed, program, matrix, folder, seconds=seconds, silent=True)
        usages.append(usage)

    for seed in range(1, rounds + 1):
        for run in (weft, htsim) if seed % 2 else (htsim, weft):
            run(seed)
    agreement = Agreement(len(matrix.flows), mean(outcomes["weft"]), mean(outcomes["htsim"]))
    return Comparison(case, tuple(map(Round, own, usages)), agreement)


@contextmanager
def _prepared(matrix: Matrix, label: str, notify: Notify) -> Iterator[Path]:
    """A new directory with the matrix, for one run."""
    notify(label, False)
    with tempfile.TemporaryDirectory(prefix="weft-against-") as name:
        (Path(name) / MATRIX).write_text(matrix.text, encoding="utf-8")
        yield Path(name)
    notify(label, True)
