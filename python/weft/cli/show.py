"""`weft summary`, `report` and `plot`: tables, an HTML page and figures of results."""

from __future__ import annotations

import webbrowser
from collections import Counter
from collections.abc import Collection
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from .. import quantity, quick
from ..labels import plural, visible
from . import shell
from .live import reading

if TYPE_CHECKING:
    from ..results import Results
    from ..runs import Runs

ResultDir = Annotated[Path, typer.Argument(metavar="DIR", help="Result directory written by `weft run`.")]
Baseline = Annotated[
    str | None,
    typer.Option(metavar="SCHEME", help="Scheme, variant or swept value (`load=0.2`) to compare with, paired by seed."),
]


@shell.guarded
def summary(
    directories: Annotated[
        list[Path], typer.Argument(metavar="DIR...", help="Result directories written by `weft run`.")
    ],
    baseline: Baseline = None,
    by: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMNS", help="Columns to group by, comma-separated: class, scheme, point or swept keys."
        ),
    ] = None,
    pairs: Annotated[
        bool, typer.Option("--pairs", help="Compare every two schemes, with one correction for all differences.")
    ] = False,
    ranks: Annotated[
        bool, typer.Option("--ranks", help="Rank the schemes over all seeds and points, with groups of equals.")
    ] = False,
    metric: Annotated[
        str | None,
        typer.Option(
            metavar="METRICS", help="With --pairs or --ranks, only these, comma-separated: mean_fct_s, p99_fct_s ..."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the numbers as JSON.")] = False,
) -> None:
    """Compare schemes: means over seeds, 95 % confidence intervals, paired differences.

    Only flows that started in the measurement window count. Several directories are compared with the first one, each
    as one more scheme; directories of one scenario with different seeds are merged.

    [bold]Examples[/bold]

      weft summary results/quickstart --baseline ecmp
      weft summary results/before results/after
      weft summary results/quickstart --baseline load=0.2
      weft summary results/quickstart --pairs --metric mean_fct_s,p99_fct_s
      weft summary results/quickstart --ranks
      weft summary results/quickstart --by class,scheme
      weft summary results/quickstart --json | jq '.rows[0]'
    """
    from .. import paths
    from ..side_by_side import SideBySide, opened
    from ..summary import summarise
    from .comparison import show_collectives, show_paths, show_summary

    columns = _listed(by)
    if metric is not None and not _listed(metric):
        raise shell.fail("--metric names no metric", "--metric mean_fct_s, or leave it out for all")
    if by is not None and not columns:
        raise shell.fail("--by names no column", "--by scheme,class, or leave it out")
    if metric is not None and not (pairs or ranks):
        raise shell.fail("--metric is for --pairs and --ranks", "add one of them; the table always has all metrics")
    if pairs or ranks:
        _all_with_all(opened(directories), baseline, columns, _listed(metric), pairs, ranks, as_json)
        return
    results = opened(directories).comparing(baseline)
    with reading(shell.err) as results.watch:
        table = summarise(results, by=columns, baseline=baseline)
        choices, events = paths.choices(results), paths.events(results)
        collectives = paths.collectives(results, table.baseline)
    if baseline is None:
        warn_of_baseline(results)
    if isinstance(results, SideBySide) and table.baseline is not None:
        for sentence in results.apart(table.baseline):
            shell.warn(sentence)
    if as_json:
        whole = table.as_dict() | {"paths": paths.as_dict(choices), "events": paths.as_dict(events)}
        if collectives:
            whole["collectives"] = paths.as_dict(collectives)
        shell.print_json(whole, indent=2)
        return
    show_collectives(shell.out, collectives, table.baseline)
    show_summary(shell.out, table)
    if choices:
        show_paths(shell.out, "Path selection and its overhead", choices, paths.COLUMNS)
    if events:
        show_paths(shell.out, "Impact of events", events, paths.EVENT_COLUMNS)
    warn_of_runs(results, said=table.unsteady())
    missing = len(results.runs) - len(results.finished)
    if missing:
        have, them = ("has", "it") if missing == 1 else ("have", "them")
        shell.warn(f"{missing} of {plural(len(results.runs), 'run')} {have} not finished; the table omits {them}")


def _listed(text: str | None) -> list[str] | None:
    """The names in a list with commas; None if it is empty."""
    return [name.strip() for name in text.split(",") if name.strip()] if text else None


def _all_with_all(
    results: Results,
    baseline: str | None,
    by: list[str] | None,
    metrics: list[str] | None,
    pairs: bool,
    ranks: bool,
    as_json: bool,
) -> None:
    """Print all pairs of schemes, their ranks, or both."""
    from ..scheme_pairs import all_pairs
    from ..scheme_ranks import ranked
    from .comparison_of_all import show_pairs, show_ranks

    with reading(shell.err) as results.watch:
        table = all_pairs(results, by=by, metrics=metrics, baseline=baseline) if pairs else None
        ranking = ranked(results, by=by, metrics=metrics, baseline=baseline) if ranks else None
    if as_json:
        found = {"pairs": table, "ranks": ranking}
        shell.print_json({name: one.as_dict() for name, one in found.items() if one is not None}, indent=2)
        return
    if table is not None:
        show_pairs(shell.out, table)
    if ranking is not None:
        show_ranks(shell.out, ranking)


@shell.guarded
def report(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="Result directory of `weft run`, or of a study with a page.")
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Page to write (default: DIR/report.html).")
    ] = None,
    baseline: Baseline = None,
    why: Annotated[
        bool | None,
        typer.Option(
            "--why/--no-why",
            help="Simulate the runs of the slowest flows and of critical paths again, to show why "
            "(default: if it takes at most 20 s).",
        ),
    ] = None,
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
) -> None:
    """Write a single self-contained HTML page with all figures and tables (works offline).

    [bold]Examples[/bold]

      weft report results/quickstart
      weft report results/quickstart -o comparison.html --baseline single_path
      weft report results/quickstart --baseline load=0.2
      weft report results/quickstart --why
    """
    from ..reporting import write
    from ..results import Results
    from ..studies import registry

    if out is not None:
        shell.refuse_directory(out)
    study = registry.of_directory(directory)
    if study is not None and (out is not None or baseline is not None):
        raise shell.fail("a study's page takes neither -o nor --baseline", "give the directory of one of its parts")
    if study is not None:
        path = study.report(directory)
    else:
        results = Results(directory)
        if baseline is None:
            warn_of_baseline(results)
        with reading(shell.err) as results.watch:
            path = write(
                results, out, baseline=baseline, why=why, on_progress=partial(results.watch, "Writing the page")
            )
    shell.say(f"{escape(str(path))} ({quantity.size(path.stat().st_size)}): open it in a browser.")
    if open_page:
        webbrowser.open(path.resolve().as_uri())
    if out is None:
        shell.say(f"Figures for a paper: {shell.command_line('plot', directory)}")


@shell.guarded
def plot(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="Result directory of `weft run` or `weft reproduce`.")
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="DIR", help="Output directory (default: DIR/figures).")
    ] = None,
    formats: Annotated[
        str,
        typer.Option("--format", metavar="TYPES", help="File types, comma-separated: pdf, png, svg, jpg, tif, webp."),
    ] = "pdf,png",
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="FIGURE", help="Write only this figure (repeatable); an unknown name lists the names."),
    ] = None,
    width: Annotated[
        str | None,
        typer.Option(metavar="INCHES", help="Width of each figure in inches, `column` (3.5) or `text` (7.16)."),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(metavar="VALUE", help="Draw the values of a swept key as schemes: `load=0.2`, or a scheme."),
    ] = None,
) -> None:
    """Write the figures as PDF and PNG; for a study's directory, the figures of its paper.

    [bold]Examples[/bold]

      weft plot results/quickstart
      weft plot results/quickstart --only fct-cdf --only queues --width column
      weft plot results/quickstart --baseline load=0.2
      weft plot results/packet-spraying -o figures --format pdf
    """
    from .. import figures
    from ..results import Results
    from ..studies import registry

    kinds = tuple(kind.strip().lstrip(".") for kind in formats.split(",") if kind.strip()) or ("",)
    inches = _inches(width)
    study = registry.of_directory(directory)
    if study is not None and (only or inches is not None or baseline is not None):
        raise shell.fail(
            "a study's figures take neither --only, --width nor --baseline",
            "give the directory of one of its parts, or leave them out",
        )
    if study is not None:
        files = study.plot(directory, out, kinds)
    else:
        results = Results(directory)
        if baseline is None:
            warn_of_baseline(results)
        with reading(shell.err) as results.watch:
            files = figures.write(results, out, kinds, only=only or (), width=inches, baseline=baseline)
            why = [] if only else figures.missing(results)
        if why:
            shell.warn(visible("\n  ".join(why)))
    for path in files:
        shell.out.print(str(path), markup=False, soft_wrap=True)


_WARNED = 5
"""Maximum number of warnings of runs that are printed."""


def warn_of_runs(results: Runs, said: Collection[str] = ()) -> None:
    """Print that runs are quick, and their warnings, such as of a deadlock, but not those in texts `said` before."""
    if results.name.endswith(f"({quick.MARK})"):
        shell.warn(f"{results.where} has a quick run, a part of the scenario: do not publish its numbers")
    for text in results.warnings:
        if text not in said:
            shell.warn(visible(text))
    heads = results.heads().values()
    counts = Counter(text for head in heads for text in dict.fromkeys(head.get("warnings", ())))
    counts = Counter({text: count for text, count in counts.items() if not any(text in one for one in said)})
    for warning, count in list(counts.items())[:_WARNED]:
        text = visible(" ".join(warning.splitlines()))
        shell.warn(text if count == len(heads) else f"{text} (in {count} of {plural(len(heads), 'run')})")
    if len(counts) > _WARNED:
        shell.warn(f"and {len(counts) - _WARNED} more; `{shell.typed('report', results.path)}` shows all")


def warn_of_baseline(results: Runs) -> None:
    """Warn if no finished run has the scenario's baseline."""
    if results.ignored_baseline:
        shell.warn(results.ignored_baseline)


def _inches(width: str | None) -> float | None:
    from ..figures.paper import WIDTHS

    if width is None or width in WIDTHS:
        return None if width is None else WIDTHS[width]
    try:
        inches = float(width)
    except ValueError:
        inches = 0.0
    if not 1.5 <= inches <= 40:
        raise shell.fail(f"--width {width} is not a width", "give 1.5 to 40 inches, `column` (3.5) or `text` (7.16)")
    return inches
