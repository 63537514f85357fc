"""All pairs of schemes and their ranks for the terminal."""

from collections.abc import Sequence
from functools import partial
from itertools import groupby
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from .. import quantity
from ..comparing_all import FEW as FEW_SIGN
from ..comparing_all import FEW_SEEDS
from ..difference import FEW
from ..labels import short_key, show, visible
from ..metrics import Metric
from ..palette import Style, styles
from ..scheme_pairs import PairRow, PairTable
from ..scheme_ranks import RankTable
from .columns import in_parts
from .verdicts import COLOURS


def show_pairs(console: Console, table: PairTable) -> None:
    """Print the difference of every two schemes, one table per point."""
    lead = [key for key in table.by if key not in ("scheme", "class")]
    for values, rows in groupby(table.rows, key=lambda row: [row.group[key] for key in lead]):
        console.print(_pairs(list(rows), table.metrics, title=_title(lead, values), with_class="class" in table.by))
        console.print()
    if not table.rows:
        console.print("No two schemes have runs that can be compared.")
    for line in table.cautions():
        console.print(Text(visible(line), style="yellow"))
    if not table.rows:
        return
    same = "flows" if table.same_flows else "seed"
    note = f"Difference of two schemes, same {same}; below it, the 95 % confidence interval (Student t)."
    console.print(Text(" ".join([note, *table.signs()]), style="dim"))


def show_ranks(console: Console, table: RankTable) -> None:
    """Print the mean ranks, one table for each combination of the columns to group by besides the class."""
    lead = [key for key in table.by if key not in ("scheme", "class")]
    groups = list({tuple(one.group.items()): one.group for one in table.rankings}.values())
    for values, part in groupby(groups, key=lambda group: [group[key] for key in lead]):
        tables = in_parts(console, table.metrics, partial(_ranks, list(part), table))
        tables[0].title = _title(lead, values) or None
        for one in tables:
            console.print(one)
            console.print()
    if not table.rankings:
        console.print("There is no point at which two schemes have values that count.")
        for line in table.cautions():
            console.print(Text(visible(line), style="yellow"))
        return
    console.print(Text(visible(" ".join(table.notes())), style="dim"))


def _title(keys: Sequence[str], values: Sequence[Any]) -> str:
    found = zip(keys, values, strict=True)
    return visible(", ".join(f"{short_key(key, keys)} {show(value)}" for key, value in found))


def _empty(title: str = "") -> Table:
    return Table(
        title=title or None, title_justify="left", title_style="bold", box=None, padding=(0, 1), pad_edge=False
    )


def _pairs(rows: Sequence[PairRow], metrics: Sequence[Metric], *, title: str, with_class: bool) -> Table:
    table = _empty(title)
    for head in (*(["Class"] if with_class else []), "Metric", "Schemes"):
        table.add_column(head, no_wrap=head != "Schemes", overflow="fold")
    for head in ("Difference", "p", "Seeds"):
        table.add_column(head, justify="right", no_wrap=True)
    colors = styles(name for row in rows for name in (row.other, row.scheme))
    for kind, part in groupby(rows, key=lambda row: row.group.get("class", "")):
        of_kind, lead = list(part), [Text(visible(str(kind)), style="bold")] if with_class else []
        for metric in metrics:
            heads = [*lead, Text(metric.title.replace(" per", "\nper"), style="bold")]
            for row in of_kind:
                table.add_row(*heads, _names(row, colors), *_cells(row, metric))
                heads = [Text("")] * len(heads)
            lead = [Text("")] * len(lead)
        table.add_row()
    return table


def _names(row: PairRow, colors: dict[str, Style]) -> Text:
    """The scheme, and below it the one whose value is subtracted."""
    own, other = (Text(visible(name), style=colors[name].color) for name in (row.scheme, row.other))
    return Text.assemble(own, "\n− ", other)


def _cells(row: PairRow, metric: Metric) -> list[Text]:
    """The difference with its interval below, the p-value and the number of seeds of a pair."""
    found = row.differences[metric.key]
    if found is None:
        return [Text(quantity.MISSING, style="dim")] * 3
    text = Text(found.text(metric.kind) + (FEW if row.few(metric) else ""), style=COLOURS[found.verdict(metric.better)])
    if interval := found.interval(metric.kind):
        text.append(f"\n{interval}", style="dim")
    p = quantity.MISSING if found.adjusted is None else quantity.p_value(found.adjusted)
    return [text, Text(p), Text(f"{found.change.n}{FEW_SIGN if found.change.n < FEW_SEEDS else ''}")]


def _ranks(groups: Sequence[dict[str, Any]], ranks: RankTable, metrics: Sequence[Metric]) -> Table:
    table = _empty()
    with_class = "class" in ranks.by
    for head in (*(["Class"] if with_class else []), "Scheme"):
        table.add_column(head, no_wrap=True)
    for metric in metrics:
        table.add_column(metric.title.replace(" per", "\nper"), justify="right", no_wrap=True)
    colors = styles(name for one in ranks.rankings for name in one.schemes)
    for group in groups:
        found = [ranks.find(group, metric) for metric in metrics]
        heads = [Text(visible(str(group["class"])), style="bold")] if with_class else []
        names = dict.fromkeys(name for one in found if one is not None for name in one.schemes)
        for name in names:
            cells = [
                Text(quantity.MISSING, style="dim")
                if one is None
                else Text.assemble(f"{one.contest.ranks[name]:.2f} ", (one.letters[name], "bold"))
                for one in found
            ]
            table.add_row(*heads, Text(visible(name), style=colors[name].color), *cells)
            heads = [Text("")] * len(heads)
        tests = [one.contest.overall if one is not None else None for one in found]
        cells = [Text(quantity.MISSING if p is None else quantity.p_value(p), style="dim") for p in tests]
        table.add_row(*heads, Text("Friedman's p", style="dim"), *cells)
        table.add_section()
        table.add_row()
    return table
