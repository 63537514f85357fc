"""htsim's side: one of its programs on the same matrix, and its outcome."""

from pathlib import Path

from . import output
from .cases import Case
from .errors import PeerError
from .excerpt import last_lines
from .outcome import Outcome
from .process import Usage, measured

SILENCED = ("htsim_roce",)
"""Programs that print a line at every event: their outcome is read from a run that is not timed."""
_NOWHERE = Path("/dev/full")
"""Silences a C++ program: its first write fails, after which its stream formats nothing more."""
_OUTPUT, _USAGE = "output.txt", "usage.json"


def run(case: Case, seed: int, program: Path, hosts: int, folder: Path, *, silent: bool) -> Usage:
    """Run the case in `folder`, which has the matrix. Raises `PeerError` with the end of its output if it fails."""
    path = _NOWHERE if silent else folder / _OUTPUT
    with path.open("wb") as file:
        done = measured(case.command(program, hosts, seed), folder / _USAGE, file, folder)
    if done.code != 0:
        end = "" if silent else last_lines(path)
        raise PeerError(f"{case.name}: {program} failed with exit code {done.code}{end}", begun=True)
    return done.usage


def outcome(case: Case, folder: Path) -> Outcome:
    """The outcome of the run in `folder`, which was not silent."""
    with (folder / _OUTPUT).open(encoding="utf-8", errors="replace") as lines:
        return output.read(lines, case.program)
