"""htsim's side: one of its programs on the same matrix, and its outcome."""

from math import ceil
from pathlib import Path

from . import output
from .cases import Case
from .errors import PeerError
from .excerpt import last_lines
from .matrix import Matrix
from .networks import PAYLOAD
from .outcome import Outcome
from .process import Usage, measured

SILENCED = ("htsim_roce",)
"""Programs that print a line at every event: their outcome is read from a run that is not timed."""
_NOWHERE = Path("/dev/full")
"""Silences a C++ program: its first write fails, after which its stream formats nothing more."""
_LEAST_SECONDS, _SECONDS_PER_PACKET = 600.0, 0.001
"""Of the limit. htsim needed 13 to 55 us of CPU time for each packet of the matrices (docs/speed.md)."""
_OUTPUT, _USAGE = "output.txt", "usage.json"


def limit(matrix: Matrix) -> float:
    """The seconds after which htsim counts as hanging: more than ten times as long as its runs of this matrix take."""
    return _LEAST_SECONDS + _SECONDS_PER_PACKET * ceil(matrix.bytes / PAYLOAD)


def run(
    case: Case, seed: int, program: Path, matrix: Matrix, folder: Path, *, seconds: float | None, silent: bool
) -> Usage:
    """Run the case in `folder`, which has the matrix. Raises `PeerError` with the end of its output if it fails.

    It fails after `seconds`; if these are None, after `limit`.
    """
    longest = limit(matrix) if seconds is None else seconds
    path = _NOWHERE if silent else folder / _OUTPUT
    with path.open("wb") as file:
        try:
            done = measured(case.command(program, matrix.hosts, seed), folder / _USAGE, file, folder, longest)
        except TimeoutError:
            end = "" if silent else last_lines(path)
            message = f"{case.name}: {program} was still running after {longest:g} s and was ended{end}"
            raise PeerError(message, f"--timeout {2 * longest:g}, if it does not hang", begun=True) from None
    if done.code != 0:
        end = "" if silent else last_lines(path)
        raise PeerError(f"{case.name}: {program} failed with exit code {done.code}{end}", begun=True)
    return done.usage


def completions(case: Case, folder: Path) -> list[float]:
    """When the flows of the run in `folder`, which was not silent, finished, in microseconds."""
    with (folder / _OUTPUT).open(encoding="utf-8", errors="replace") as lines:
        return output.completions(lines, case.program)


def outcome(case: Case, folder: Path) -> Outcome:
    """The outcome of the run in `folder`, which was not silent."""
    with (folder / _OUTPUT).open(encoding="utf-8", errors="replace") as lines:
        return output.read(lines, case.program)
