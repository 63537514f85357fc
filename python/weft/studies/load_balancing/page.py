"""The survey as one page: every measure in one situation, one measure in all situations, and the claims."""

from typing import Any

import polars as pl

from ...labels import plural
from ...markup import data_block, escape
from ...reporting.parts import asset, document, section, tabs
from ..outcome import Outcome, Size
from ..rows import measured
from .listing import NO_NUMBERS, Refused, remarks
from .survey import MAIN, SITUATIONS, TITLES
from .table import MEASURES

MEASURED = (
    ("small_mean", "Small, mean", "ratio"),
    ("small_median", "Small, median", "ratio"),
    ("small_p99", "Small, p99", "ratio"),
    ("large_mean", "Large, mean", "ratio"),
    ("large_median", "Large, median", "ratio"),
    ("large_p99", "Large, p99", "ratio"),
    ("timeouts", "With a timeout", "share"),
    ("out_of_order", "Out of order", "share"),
    ("unfinished", "Unfinished", "share"),
    ("entries", "Entries per switch", "count"),
    ("control", "Control messages per flow", "count"),
)
"""Measure, title and kind of each column; heat is drawn for slowdowns."""
_SLOWDOWNS = tuple((key, title) for key, title, kind in MEASURED if kind == "ratio")


def render(found: pl.DataFrame, refused: Refused, outcome: Outcome, size: Size, version: str) -> str:
    """The page as HTML text, from the table of `listing.aggregate`; `version` of Weft wrote the results."""
    data = _data(found)
    there = [situation for situation in SITUATIONS if situation.name in set(found["situation"])]
    seeds = found["seeds"].max()
    return document(
        "Load balancers",
        asset("survey.css", __package__),
        [asset("survey.js", __package__)],
        [
            "<noscript>The tables on this page need JavaScript; survey.md has the same numbers.</noscript>",
            '<header class="top"><div><h1>Load balancers by situation</h1><div class="meta">'
            f"{plural(found['scheme'].n_unique(), 'scheme')} · {plural(len(there), 'situation')} · "
            f"{plural(int(str(seeds or 0)), 'seed')} · size {size.value}<br>8 spines, 8 leaves, all links "
            "10 Gbps. Load is a share of the uplinks of the intact fabric."
            "</div></div></header>",
            '<div class="bar"><div><label>Workload <select id="point">'
            + "".join(f'<option value="{i}">{escape(p["title"])}</option>' for i, p in enumerate(data["points"]))
            + '</select></label><div class="scale">best <i class="heat"></i> 8 times the best, or more</div>'
            "</div></div>",
            "<main>",
            section(
                "All measures in one situation",
                "Slowdown: completion time over that on an idle fabric. Small flows: below 100 kB, "
                "large: above 1 MB. ±: half-width of the 95 % interval. Out of order: share of segments; entries: "
                "flows, stations, known paths and members of groups; control: frames that switches make or copy, and "
                f"messages to and from a controller. {NO_NUMBERS} Click a heading, or press Enter on it, to sort.",
                '<div class="scroll"><table class="data survey" id="measures"></table></div>',
                "measures-section",
                controls=tabs("situation", [(situation.name, situation.title) for situation in there]),
            ),
            section(
                "One measure in all situations",
                "A situation that was not run with the chosen workload shows the nearest one; its heading names it.",
                '<div class="scroll"><table class="data survey" id="situations"></table></div>',
                "situations-section",
                controls=tabs("measure", _SLOWDOWNS),
            ),
            _claims(outcome),
            _remarks(refused),
            "</main>",
            f"<footer><main>Made by Weft {escape(version)}. This page works offline.</main></footer>",
            data_block("page-data", data),
        ],
    )


def _data(found: pl.DataFrame) -> dict[str, Any]:
    """The numbers by group of runs, and for each workload the group that a situation shows."""
    keys = ("situation", "profile", "sizes", "load")
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in found.iter_rows(named=True):
        numbers = {measure: _number(row, measure) for measure in MEASURES if row[measure] is not None}
        cells = {key: row[key] for key in ("scheme", "mark", "tables", "needs")} | {"values": numbers}
        groups.setdefault(tuple(row[key] for key in keys), []).append(cells)
    order = list(groups)
    main = {situation.name for situation in MAIN}
    points = list(dict.fromkeys(group[1:] for group in order if group[0] in main))
    return {
        "measures": [{"key": key, "title": title, "kind": kind} for key, title, kind in MEASURED],
        "situations": [{"key": name, "title": title} for name, title in TITLES.items()],
        "groups": [{"title": _title(*group[1:]), "rows": rows} for group, rows in groups.items()],
        "points": [
            {"title": _title(*point), "shown": {name: _nearest(order, name, point) for name in TITLES}}
            for point in points
        ],
    }


def _number(row: dict[str, Any], measure: str) -> list[float | None]:
    high = row[f"{measure}_high"]
    return [row[measure], None if high is None else high - row[measure]]


def _title(profile: str, sizes: str, load: float | None) -> str:
    return f"{sizes}, {profile}" + ("" if load is None else f", {100 * load:.0f} % load")


def _nearest(groups: list[tuple[Any, ...]], situation: str, point: tuple[Any, ...]) -> int | None:
    """The place of the group of a situation that is most like a workload; None without one of its profile."""
    profile, sizes, load = point
    rank = [
        (group[2] != sizes, abs((group[3] or 0) - (load or 0)), place)
        for place, group in enumerate(groups)
        if group[0] == situation and group[1] == profile
    ]
    return min(rank)[2] if rank else None


def _claims(outcome: Outcome) -> str:
    rows = "".join(
        f"<tr><td>{escape(row.id)}</td><td>{escape(row.claim)}</td><td>{escape(row.verdict)}</td>"
        f"<td>{escape(measured(row))}</td><td>{''.join(f'<p>{escape(n)}</p>' for n in row.note.split('; '))}</td></tr>"
        for row in outcome.rows
    )
    head = "<tr><th></th><th>Claim</th><th>Verdict</th><th>Measured</th><th>Notes</th></tr>"
    table = f'<div class="scroll"><table class="data claims"><thead>{head}</thead><tbody>{rows}</tbody></table></div>'
    return section("Claims of the papers", "Brackets: 95 % interval over seeds.", table, "claims-section")


def _remarks(refused: Refused) -> str:
    body = "<ul>" + "".join(f"<li>{escape(remark)}</li>" for remark in remarks(refused)) + "</ul>"
    return section("Remarks", "Changed parameters, and the schemes that do not run in a situation.", body, "remarks")
