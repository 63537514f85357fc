"""`weft bench --against htsim`: the table of ratios to a uet-htsim that the user has built."""

import itertools
import signal
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table

from .. import quantity
from ..labels import plural
from . import shell
from .columns import in_parts
from .live import shown

if TYPE_CHECKING:
    from ..against.cases import Case
    from ..against.comparison import Comparison
    from ..against.program import Htsim

_COLUMNS = (
    "htsim",
    "weft run",
    "its engine",
    "ratio",
    "min to max",
    "htsim memory",
    "weft memory",
    "ratio of memory",
    "packets",
    "last flow",
)


def compare(directory: Path, name: str | None, rounds: int, seconds: float | None, *, as_json: bool) -> None:
    """Run one case, or all whose program is built, and print their ratios; `seconds` limits each run of htsim.

    Raises `typer.Exit` if a case is not comparable.
    """
    from ..against import program
    from ..against.rows import row

    # Both simulators end with this process, also if a service manager stops it or the terminal closes.
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as with nohup
            signal.signal(number, signal.default_int_handler)
    found = program.opened(directory)
    chosen = _chosen(found, directory, name)
    done: list[Comparison] = []
    try:
        _run(chosen, rounds, seconds, done)
    finally:
        # Cases take minutes each: those that are done are not lost if a later one fails.
        if as_json:
            shell.print_json([row(one) for one in done], indent=2)
        elif done:
            _print(done, rounds)
    if differ := _differing(done):
        raise shell.fail(f"not comparable: {', '.join(one.case.name for one in differ)}", code=shell.FAILED)


def _differing(done: "Sequence[Comparison]") -> "list[Comparison]":
    """The cases that are not comparable."""
    return [one for one in done if not one.agreement.holds]


def _run(chosen: "list[tuple[Case, Path]]", rounds: int, seconds: float | None, done: "list[Comparison]") -> None:
    """Run the cases and append each to `done` when it has ended."""
    from ..against import comparison

    total = sum(comparison.runs(case, rounds) for case, _ in chosen)
    with shown("against htsim", shell.err) as (_, feed):
        numbers = itertools.count()

        def notify(label: str, ended: bool) -> None:
            event = "run_done" if ended else "progress"
            number = next(numbers) // 2
            feed({"event": event, "run_id": str(number), "label": label, "total": total, "fraction": float(ended)})

        for case, path in chosen:
            done.append(comparison.compare(case, path, rounds, notify, seconds))


def _print(done: "Sequence[Comparison]", rounds: int) -> None:
    for table in in_parts(shell.out, _COLUMNS, partial(_table, done)):
        shell.out.print(table)
    if differ := _differing(done):
        shell.out.print("†: not comparable:", style="yellow")
    for one in differ:
        shell.out.print(f"  {one.case.name}: {', '.join(one.agreement.reasons)}", style="yellow")
    shell.out.print(
        f"{plural(rounds, 'interleaved round')}, medians; times are CPU time; ratios: htsim / weft run; "
        "packets, last flow: Weft's deviation from htsim",
        style="dim",
    )


def _chosen(found: "Htsim", directory: Path, name: str | None) -> "list[tuple[Case, Path]]":
    """The cases to run, with their programs. Raises `typer.Exit`."""
    from ..against import program
    from ..against.cases import CASES

    if name is not None and name not in CASES:
        raise shell.fail(f"unknown case `{name}`", f"one of {', '.join(CASES)}")
    cases = list(CASES.values()) if name is None else [CASES[name]]
    paths = {wanted: found.program(wanted) for wanted in dict.fromkeys(case.program for case in cases)}
    missing = [wanted for wanted, path in paths.items() if path is None]
    if len(missing) == len(paths):
        raise shell.fail(f"{directory} has no {' or '.join(missing)}", program.how_to_build(missing[0]))
    for wanted in missing:
        shell.warn(f"{directory} has no {wanted}: its cases are left out ({program.how_to_build(wanted)})")
    return [(case, path) for case in cases if (path := paths[case.program]) is not None]


def _table(done: "Sequence[Comparison]", columns: Sequence[str]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("case", no_wrap=True)
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    for one in done:
        cells = _cells(one)
        table.add_row(one.case.name, *(cells[column] for column in columns))
    return table


def _cells(one: "Comparison") -> dict[str, str]:
    values = (
        quantity.seconds(one.theirs_seconds),
        quantity.seconds(one.ours_seconds),
        quantity.seconds(one.engine_seconds),
        quantity.ratio(one.ratio) + ("" if one.agreement.holds else " †"),
        quantity.span(one.ratios, quantity.ratio),
        quantity.size(one.theirs_memory),
        quantity.size(one.ours_memory),
        quantity.ratio(one.memory_ratio),
        quantity.change(one.agreement.packets),
        quantity.change(one.agreement.last),
    )
    return dict(zip(_COLUMNS, values, strict=True))
