"""Runs the table: a jail for each column and group, side by side, and what came out of them."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from weft.emulation import requirements

from .cell import Cell
from .fabric import BRIDGE, MODES, PACES
from .table import GROUPS
from .verdict import failures, wrong_facts

COLUMNS = (BRIDGE, *MODES)
_LIMIT_S = {"full": 1800.0, "short": 400.0}
_STALL_MS = {form: pace.hello for form, pace in PACES.items()}
"""A stall that switches may notice: Hello is held for three intervals, and other daemons stall as well."""
_TRIES = 3
_AT_ONCE = 4
"""Networks that are made at a time: programs of many switches that are verified all at once make each other late."""
_ROOT = Path(__file__).parents[1]

Say = Callable[[str], None]
"""Takes a line on what is done."""


def why_not() -> str | None:
    """Why the table cannot be made on this machine; None if it can."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "network namespaces and programs in the kernel need root on Linux"
    missing = [
        name
        for name in ("unshare", "setpriv", "mount", "nsenter", "ip", "weft-switchd")
        if requirements.program(name) is None
    ]
    if missing:
        return f"not on this machine: {', '.join(missing)}; `make emulation` installs them"
    if subprocess.run(["unshare", "--net", "true"], check=False, capture_output=True).returncode != 0:
        return "this system gives no network namespaces"
    return None if Path("/sys/fs/bpf").is_dir() else "this kernel has no BPF"


@dataclass
class _Jail:
    column: str
    group: str
    process: subprocess.Popen[bytes]
    out: IO[bytes]
    notes: IO[bytes]


@dataclass
class Outcome:
    """What was measured.

    Attributes:
        cells: By row, then by column.
        notes: What jails said beside it, those that failed included.
        groups: By row, its group.
        cases: By row, its case.
    """

    cells: dict[str, dict[str, Cell]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    groups: dict[str, str] = field(default_factory=dict)
    cases: dict[str, str] = field(default_factory=dict)


def run(
    form: str,
    columns: Sequence[str] = COLUMNS,
    groups: Iterable[str] = tuple(GROUPS),
    say: Say = lambda _: None,
) -> Outcome:
    """Make the table: all columns and groups at once, then up to twice more what the machine may have spoilt.

    `say` gets a line whenever a group of a column is done.

    On a busy machine a process may have to wait for its turn, however good the network is. So a time that is missed
    is measured again, and so is any cell during which a process waited for longer than the switches' shortest
    timeouts: they then rightly take a neighbour for dead. A frame that is lost, doubled or delivered elsewhere while
    the machine kept up has no second try.
    """
    outcome = Outcome()
    _batch(form, [(column, group) for group in groups for column in columns], outcome, say)
    for _ in range(_TRIES - 1):
        spoilt = _spoilt(form, outcome)
        if not spoilt:
            break
        again = Outcome()
        cases = sorted({(column, outcome.groups[row], outcome.cases[row]) for row, column in spoilt})
        say(f"too slow, or on a machine that stalled: {len(spoilt)} cells are measured again")
        _batch(form, cases, again, say)
        outcome.notes += ["measured again:", *again.notes]
        for row, column in spoilt:
            second = again.cells.get(row, {}).get(column)
            if second:
                outcome.cells[row][column] = second
    return outcome


def _spoilt(form: str, outcome: Outcome) -> set[tuple[str, str]]:
    """Rows and columns of cells that fail, and that the machine may have spoilt."""
    longest = _STALL_MS[form]
    return {
        (row, column)
        for row, cells in outcome.cells.items()
        for column, cell in cells.items()
        if failures(row, column, cell, cells.get(BRIDGE)) and (cell.stalled > longest or _only_slow(row, column, cell))
    }


def _only_slow(row: str, column: str, cell: Cell) -> bool:
    """Whether nothing is wrong with a cell that fails but a time; an event that never happened is not slow."""
    return not wrong_facts(row, column, cell) and all(value is not None for value, _ in cell.times.values())


def _batch(form: str, wanted: Sequence[tuple[str, ...]], outcome: Outcome, say: Say) -> None:
    with tempfile.TemporaryDirectory(prefix="weft-parity-") as turns:
        files = [Path(turns, str(number)) for number in range(_AT_ONCE)]
        for file in files:
            file.touch()
        jails = [_start(form, files[at % _AT_ONCE], *names) for at, names in enumerate(wanted)]
        codes = _wait(form, jails, say)
    # In the order of the table, whoever was done first.
    for jail, code in zip(jails, codes, strict=True):
        _collect(jail, code, outcome)


def _wait(form: str, jails: Sequence[_Jail], say: Say) -> list[int | str]:
    """How each ended; `say` gets a line for each when it does."""
    began = time.monotonic()
    end = began + _LIMIT_S[form]
    codes: dict[int, int | str] = {}
    left = {os.pidfd_open(jail.process.pid): at for at, jail in enumerate(jails)}
    ready = select.poll()
    for ended in left:
        ready.register(ended, select.POLLIN)
    while left:
        done = [ended for ended, _ in ready.poll(1000 * max(0.0, end - time.monotonic()))]
        for ended in done or list(left):
            at = left.pop(ended)
            ready.unregister(ended)
            os.close(ended)
            if not done:
                jails[at].process.kill()
            code = jails[at].process.wait()
            codes[at] = code if done else f"not done after {_LIMIT_S[form]:.0f} s"
            how = "done" if codes[at] == 0 else f"ended with {codes[at]}"
            seconds, total = time.monotonic() - began, len(jails)
            say(f"{seconds:.0f} s: {jails[at].column}, {jails[at].group}: {how}; {len(left)} of {total} left")
    return [codes[at] for at in range(len(jails))]


def _start(form: str, turn: Path, column: str, group: str, *cases: str) -> _Jail:
    switchd = requirements.program("weft-switchd") or "weft-switchd"
    out, notes = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115 (closed when they are read)
    command = [
        *("setpriv", "--pdeathsig", "KILL", "--"),
        *("unshare", "--net", "--mount", "--pid", "--fork", "--kill-child=KILL", "--mount-proc", "--"),
        *(sys.executable, "-m", "parity.inside", column, group, form, switchd, str(turn), *cases),
    ]
    paths = [str(_ROOT), str(_ROOT.parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=out,
        stderr=notes,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        start_new_session=True,
    )
    return _Jail(column, group, process, out, notes)


def _collect(jail: _Jail, code: int | str, outcome: Outcome) -> None:
    for stream in (jail.out, jail.notes):
        stream.seek(0)
    with jail.out, jail.notes:
        for line in jail.out.read().decode().splitlines():
            case, row, text = line.split("\t")
            outcome.cells.setdefault(row, {})[jail.column] = Cell.from_json(text)
            outcome.groups[row], outcome.cases[row] = jail.group, case
        outcome.notes += jail.notes.read().decode(errors="replace").splitlines()
    if code != 0:
        outcome.notes.append(f"{jail.column}, {jail.group}: ended with {code}")
