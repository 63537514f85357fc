"""The report's tables as HTML, and the comparison as tab-separated text for the clipboard."""

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import polars as pl

from .. import quantity
from ..content import Content
from ..difference import FEW, Difference
from ..labels import short_key, show
from ..markup import escape
from ..metrics import METRICS
from ..palette import Style, styles
from ..paths import Column, telling
from ..paths import Row as PathRow
from ..paths import leads as lead_keys
from ..statistics import Estimate, has_intervals
from ..steadiness import Mark
from ..summary_table import Row, Summary
from .parts import mark, named


def tsv(summary: Summary) -> str:
    """The comparison with raw numbers (s, bit/s, shares), one row per group; none in groups with a mark."""
    frame = summary.frame()
    numbers = [name for name in frame.columns if name.startswith(tuple(metric.key for metric in METRICS))]
    counted = pl.when(pl.col("mark").is_null()).then(pl.col(numbers))
    return frame.with_columns(counted).write_csv(separator="\t")


def comparison(content: Content) -> str:
    """The comparison as a table: mean over seeds, half-width of the interval below, difference from the baseline.

    `Summary.signs` explains the signs.
    """
    summary = content.summary
    chosen = styles(content.schemes)
    heads = [short_key(key, summary.by) for key in summary.by]
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in heads)
    head += '<th scope="col" class="n">seeds</th><th scope="col" class="n">Flows per run</th>'
    head += "".join(f'<th scope="col" class="n">{escape(metric.title)}</th>' for metric in summary.metrics)
    leads = [tuple(v for key, v in row.group.items() if key not in ("scheme", "class")) for row in summary.rows]
    keys = content.results.dimensions
    points = {tuple(run.dimensions.get(key) for key in keys): run.point for run in content.results.finished}
    marks = [
        f' data-point="{content.points.index(points[tuple(row.group[key] for key in keys)])}" '
        f'data-scheme="{content.schemes.index(row.group["scheme"])}" '
        f'data-class="{content.classes.index(row.group["class"])}"'
        for row in summary.rows
    ]
    return _grouped("comparison", head, leads, [_cells(row, summary, chosen) for row in summary.rows], marks)


def _grouped(
    ident: str, head: str, leads: Sequence[tuple[Any, ...]], rows: Sequence[str], marks: Sequence[str] = ()
) -> str:
    """A table of rows of cells; a row whose lead differs from that of the row above begins a group."""
    kinds = ["next" if lead == above else "first" for above, lead in pairwise([*leads[:1], *leads])]
    body = "\n".join(
        f'<tr class="{kind}"{mark}>{row}</tr>'
        for kind, row, mark in zip(kinds, rows, marks or [""] * len(rows), strict=True)
    )
    return f'<table class="data sortable" id="{ident}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def paths(rows: Sequence[PathRow], columns: Sequence[Column], ident: str) -> str:
    """Path selection or the impact of events: one row per point, event and scheme, without empty columns."""
    shown, leads = telling(rows, columns), lead_keys(rows)
    chosen = styles(row.scheme for row in rows)
    head = "".join(f'<th scope="col">{key}</th>' for key in (*leads, "scheme"))
    head += "".join(f'<th scope="col" class="n">{escape(column.title)}</th>' for column in shown)
    places = [tuple(getattr(row, key) for key in leads) for row in rows]
    body = []
    for row, place in zip(rows, places, strict=True):
        cells = "".join(f"<td>{escape(value)}</td>" for value in place)
        cells += f"<td>{mark(chosen[row.scheme])}{named(row.scheme)}</td>"
        if row.mark is not None:
            body.append(cells + _label(row.mark) * len(shown))
            continue
        lined = has_intervals(row.estimates[c.key] for c in shown)
        body.append(
            cells
            + "".join(
                f'<td class="n"{_raw(row.estimates[c.key])}>'
                + _estimate(row.estimates[c.key], c.kind, lined=lined and row.differences.get(c.key) is not None)
                + (_difference(one, c.kind, -1) if (one := row.differences.get(c.key)) else "")
                + "</td>"
                for c in shown
            )
        )
    return _grouped(ident, head, places, body)


def _cells(row: Row, summary: Summary, chosen: Mapping[str, Style]) -> str:
    cells = []
    for key in summary.by:
        text = escape(show(row.group[key]))
        if key == "scheme":
            text = mark(chosen[row.group[key]]) + named(show(row.group[key]))
        elif key == "class":
            shown = named(show(row.group[key]))
            text = f'<button type="button" class="plain" data-slow="{text}" title="Its slowest flows">{shown}</button>'
        number = isinstance(row.group[key], int | float)
        cells.append(f'<td data-v="{row.group[key]!r}">{text}</td>' if number else f"<td>{text}</td>")
    unfinished = row.flows - row.finished
    others = 0 if row.shared is None else row.shared.baseline_unfinished
    flows = quantity.count(row.per_run(row.flows))
    for name, left in (("unfinished", unfinished), (f"unfinished under {named(str(summary.baseline))}", others)):
        if left:
            flows += f'<small class="bad note">{quantity.count(row.per_run(left))} {name}</small>'
    cells.append(f'<td class="n">{len(row.seeds)}</td><td class="n" data-v="{row.per_run(row.flows)}">{flows}</td>')
    if row.mark is not None:
        return "".join([*cells, _label(row.mark) * len(summary.metrics)])
    lined = has_intervals(row.estimates[metric.key] for metric in summary.metrics)
    for metric in summary.metrics:
        value = row.estimates[metric.key]
        found = row.differences.get(metric.key)
        sign = FEW if row.few(metric) else ""
        text = f'<td class="n"{_raw(value)}>{_estimate(value, metric.kind, sign, lined=lined and found is not None)}'
        if found is not None:
            text += _difference(found, metric.kind, metric.better)
        cells.append(text + "</td>")
    return "".join(cells)


def _label(marked: Mark) -> str:
    """A cell of a row whose means say nothing."""
    return f'<td class="n" title="{escape(marked.text)}"><small class="bad">{marked.label}</small></td>'


def _raw(value: Estimate | None) -> str:
    """The attribute by which the page sorts; without one, a row stays below."""
    return "" if value is None else f' data-v="{value.mean:.6g}"'


def _estimate(value: Estimate | None, kind: str, sign: str = "", *, lined: bool = False) -> str:
    """A mean with a sign after it, and half its interval on the line below, which is empty if `lined` without one."""
    if value is None:
        return quantity.MISSING
    number, half = quantity.parts(kind, value.mean, value.plus_minus)
    return f"<b>{number}{sign}</b>" + (f"<small>{escape(half) or '&nbsp;'}</small>" if half or lined else "")


def _difference(found: Difference, quantities: str, better: int) -> str:
    kind, interval = found.verdict(better), found.interval(quantities)
    title = f' title="95 % interval: {interval}"' if interval else ""
    return f'<small class="{f"diff {kind}".strip()}"{title}>{found.text(quantities)}</small>'


def properties(rows: Iterable[tuple[str, Sequence[str]]], heads: Sequence[str] = ()) -> str:
    """A table of named values, one column or several."""
    head = f"<thead><tr><th></th>{''.join(f'<th>{escape(h)}</th>' for h in heads)}</tr></thead>" if heads else ""
    body = "".join(
        f"<tr><th>{escape(name)}</th>{''.join(f'<td>{escape(value)}</td>' for value in values)}</tr>"
        for name, values in rows
    )
    return f'<table class="props">{head}<tbody>{body}</tbody></table>'


def transports(summaries: Sequence[Mapping[str, Any]]) -> str:
    """All transports used, side by side, with all parameters."""
    distinct: dict[str, Mapping[str, Any]] = {}
    for summary in summaries:
        transport = summary.get("transport") or {}
        rule = {"interfaces": transport["interfaces"]} if "interfaces" in transport else {}
        flat = {"profile": transport.get("profile"), **rule, **_flat(transport.get("parameters") or {})}
        distinct.setdefault(json.dumps(transport, sort_keys=True), flat)
    columns = list(distinct.values())
    names = list(dict.fromkeys(name for column in columns for name in column if name != "profile"))
    heads = [str(column.get("profile", "transport")) for column in columns]
    rows = [
        (name, [show(column[name]) if name in column else quantity.MISSING for column in columns]) for name in names
    ]
    side_by_side = max(1, 3 // len(heads))
    length = -(-len(rows) // side_by_side)
    parts = [properties(rows[at : at + length], heads) for at in range(0, len(rows), length)]
    return f'<div class="spread">{"".join(parts)}</div>'


def _flat(parameters: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in parameters.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{prefix}{name}.")
        else:
            flat[f"{prefix}{name}"] = value
    return flat
