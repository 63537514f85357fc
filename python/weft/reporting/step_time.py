"""The section about the time of collectives and traces: the parts of their critical paths, and the links to blame."""

from collections.abc import Iterator, Mapping, Sequence

from .. import paths, quantity
from ..cause_style import CAUSES
from ..content import Content
from ..critical_path import LEAST_SHARE, CriticalPath
from ..figures.figure import interval_note
from ..labels import plural
from ..markup import escape
from ..palette import styles
from .blame import Blame
from .parts import mark, named, section

COLOURS = {
    "compute": "rate limit",
    "delay": "address resolution",
    "network": "transmission",
    "queueing": "queueing",
    "acknowledgement": "delayed acknowledgement",
    "delayed_start": "others",
}
"""The cause whose colour a part has."""
_LINKS = 5
"""Links shown of each scheme."""


def section_of(content: Content, blame: Blame) -> str:
    """The section; empty if no round was completed."""
    rows = [row for row in content.collectives if row.mark is None and _times(row)]
    if not rows:
        return ""
    shown = paths.telling(rows, paths.PART_COLUMNS)
    legend = "".join(
        f'<span class="step-key">{_swatch(_part(column))}{escape(column.title)}</span>' for column in shown
    )
    return section(
        "Where the step's time went",
        "The critical path of a round of a collective, or of a trace: backwards from what ended last, each flow and "
        "computation leads to the one that let it start. <b>Network</b> is the time of its flows alone on an idle "
        "fabric, <b>queueing</b> the time that they took longer. Averaged over the rounds of a run and over the seeds. "
        + interval_note(content, "±: half-width of the"),
        f'<div class="step-keys">{legend}</div><div class="scroll">{_table(content, rows, shown)}</div>{_links(blame)}',
        ident="step-time",
    )


def _times(row: paths.Row) -> dict[str, float]:
    """The mean of each part in seconds; empty unless all rounds were completed."""
    found = {column.key: row.estimates[column.key] for column in paths.PART_COLUMNS}
    return {key: one.mean for key, one in found.items() if one is not None}


def _part(column: paths.Column) -> str:
    return column.key.removeprefix("path_").removesuffix("_s")


def _swatch(part: str, style: str = "") -> str:
    at = list(CAUSES).index(COLOURS[part])
    return f'<i style="--cause:var(--cause-{at});{style}"></i>'


def _table(content: Content, rows: Sequence[paths.Row], shown: Sequence[paths.Column]) -> str:
    """A row with a stacked bar and the mean of each part for each collective and scheme."""
    leads, looks = paths.leads(rows), styles(content.schemes)
    heads = [*(key.capitalize() for key in leads), "Scheme", "Critical path"]
    most: dict[tuple[str, str], float] = {}
    for row in rows:
        key = (row.point, row.collective)
        most[key] = max(most.get(key, 0.0), sum(_times(row).values()))
    body = []
    for row in rows:
        times = _times(row)
        cells = [f"<td>{escape(getattr(row, key))}</td>" for key in leads]
        cells.append(f"<td>{mark(looks[row.scheme])}{named(row.scheme)}</td>")
        cells.append(f'<td class="step-cell">{_bar(row.scheme, times, most[row.point, row.collective], shown)}</td>')
        for column in shown:
            one = row.estimates[column.key]
            number, half = quantity.parts("s", one.mean, one.plus_minus) if one is not None and one.mean else ("", "")
            cells.append(
                f'<td class="n"><b>{number}</b>' + (f"<small>{escape(half)}</small>" if half else "") + "</td>"
            )
        body.append(f"<tr>{''.join(cells)}</tr>")
    head = "".join(f"<th>{escape(text)}</th>" for text in heads)
    head += "".join(f'<th class="n">{escape(column.title)}</th>' for column in shown)
    return f'<table class="data"><thead><tr>{head}</tr></thead><tbody>{"".join(body)}</tbody></table>'


def _bar(scheme: str, times: Mapping[str, float], most: float, shown: Sequence[paths.Column]) -> str:
    """The parts side by side, as long as their share of the longest path of the collective."""
    total = sum(times.values())
    parts = [(column, times.get(column.key, 0.0)) for column in shown]
    said = ", ".join(f"{column.title.lower()} {quantity.seconds(took)}" for column, took in parts if took)
    pieces = "".join(_swatch(_part(column), f"flex-grow:{took / total:.5f}") for column, took in parts if took)
    width = f"width:{total / most * 100:.2f}%"
    title = escape(f"{scheme}: {said}")
    return f'<div class="step-bar" role="img" aria-label="{title}" title="{title}" style="{width}">{pieces}</div>'


def _links(blame: Blame) -> str:
    """The links to blame for the queueing of each scheme's path, and why some are unknown."""
    if not blame.paths and not blame.note:
        return ""
    note = f'<p class="caption" id="step-links-note">{escape(blame.note)}</p>' if blame.note else ""
    return f"<h3>Links to blame</h3>{_links_table(blame.paths)}{note}"


def _links_table(found: Sequence[CriticalPath]) -> str:
    """The links of each path; empty without paths."""
    if not found:
        return ""
    first = found[0]
    where = f"seed {first.run.seed}" + (f", {first.run.point}" if first.run.point else "")
    caption = (
        f"The queueing on the critical path of {escape(first.name)} ({escape(where)}), by the link at which packets of "
        "its flows waited, found by simulating the runs again. <code>weft why --critical-path</code> lists each flow."
    )
    body = "".join(
        f"<tr><td>{named(one.run.scheme)}</td><td>{escape(link)}</td>"
        f'<td class="n">{quantity.seconds(seconds)}</td><td class="n">{escape(_share(one, seconds))}</td></tr>'
        for one in found
        for link, seconds in _waits(one)
    )
    heads = '<th>Scheme</th><th>Link</th><th class="n">Queueing</th><th class="n">Share of the time</th>'
    return (
        f'<p class="caption">{caption}</p><div class="scroll"><table class="data" id="step-links">'
        f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _waits(one: CriticalPath) -> Iterator[tuple[str, float]]:
    """The first links and the rest of the queueing, which add up to that of the path."""
    links = list(one.blamed.items())
    yield from links[:_LINKS]
    if rest := links[_LINKS:]:
        yield plural(len(rest), "other"), sum(seconds for _, seconds in rest)
    for name, seconds in (("at no link", one.elsewhere), ("not explained", one.unexplained)):
        if seconds >= LEAST_SHARE * one.seconds:
            yield name, seconds


def _share(one: CriticalPath, seconds: float) -> str:
    return quantity.of_whole(seconds / one.seconds) if one.seconds else ""
