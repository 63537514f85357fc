"""The page: head, controls and sections in reading order, and its data.

All scripts, styles and data are inline; the content security policy forbids every connection.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from .. import drawing, quantity, run_ends
from ..cause_style import style_sheet
from ..content import Content
from ..figures import collectives, link, pairs
from ..figures.layers import formatted, span, tips
from ..figures.registry import FIGURES
from ..figures.style import config
from ..labels import plural, short_key, show
from ..markup import closed, data_block, escape, packed, packed_block
from ..metrics import METRICS
from ..palette import styles
from ..results import Results
from . import failures, ranks, sections, step_time, tables
from .blame import Blame, blame_of
from .details import Details, coverage
from .findings import findings, no_finding
from .frames import frames
from .parts import asset, choice, document, mark, named, scripts
from .trails import trails
from .why import why

OnProgress = Callable[[int, int], object]
_BEFORE_PAIRS = 4
"""Figures of the registry that stand before the comparison flow by flow."""

SCRIPTS = (
    "units.js",
    "data.js",
    "state.js",
    "theme.js",
    "files.js",
    "sorting.js",
    "labels.js",
    "times.js",
    "panels.js",
    "charts.js",
    "label-editor.js",
    "collectives.js",
    "pairs.js",
    "links.js",
    "fabric.js",
    "why.js",
    "flows.js",
    "controls.js",
    "contents.js",
    "sideways.js",
    "page.js",
)
"""The page's own scripts; each uses only those before it."""

_CONTENTS = (
    '<nav id="contents" class="contents" aria-label="Contents" data-open="no">'
    '<button type="button" id="contents-toggle" aria-expanded="false" aria-controls="contents-list">Contents: '
    '<b id="contents-now"></b></button><ol id="contents-list"></ol></nav>'
)
"""The place of the list of contents, which the page's script fills."""


def render(
    results: Results,
    *,
    baseline: str | None = None,
    out: Path | None = None,
    explained: bool | None = None,
    on_progress: OnProgress = lambda _, __: None,
) -> str:
    """The page as HTML text, compared with `baseline`.

    Pages of `weft explore` and `weft why` next to `out`, where it will be written, are linked. `explained`: whether the
    runs of the slowest flows and of critical paths are simulated again; None: if that takes a short time. `on_progress`
    gets the number of steps done and their total.
    """
    content = Content(results, baseline)
    found = frames(content)
    details = Details(content)
    # The tables and the summary take about as long as the parts of all points.
    base, steps = details.number, 2 * details.number
    on_progress(base, steps)
    parts = {}
    for ident, part in details.parts():
        parts[ident] = part
        on_progress(base + len(parts), steps)
    blame = blame_of(results, wanted=explained)
    data = _data(content, coverage(list(parts)), out)
    data["why"] = why(content, parts, out, wanted=explained, spent=blame.seconds)
    body = "".join(_sections(content, found, blame, comparable=details.pairs_exist and bool(content.classes)))
    return document(
        results.name,
        asset("report.css") + asset("why.css") + style_sheet() + drawing.themed_style_sheet(),
        [_bundle(), scripts(*SCRIPTS)],
        [
            '<a class="skip" href="#main">Skip to the figures</a>',
            "<noscript>The charts on this page need JavaScript; the tables do not.</noscript>",
            _header(content),
            _bar(content),
            f'<div class="page">{_CONTENTS}<main id="main" tabindex="-1">{body}</main></div>',
            '<div id="said" class="unseen" role="status" aria-live="polite"></div>',
            f"<footer><div>Made by Weft {escape(results.version)}. This page works offline.</div></footer>",
            data_block("page-data", data),
            data_block("tsv", tables.tsv(content.summary)),
            packed_block("frames", packed(found)),
            packed_block("specs", packed(_specs(content))),
            *(packed_block(ident, part) for ident, part in parts.items()),
        ],
        root=' data-theme="auto"',
        evaluates=True,
    )


def _sections(content: Content, found: dict[str, Any], blame: Blame, *, comparable: bool) -> list[str]:
    """The sections in reading order."""
    figures = [sections.figure(content, figure, found) for figure in FIGURES]
    return [
        sections.collectives(content),
        step_time.section_of(content, blame),
        sections.fabric(content),
        *figures[:_BEFORE_PAIRS],
        ranks.section_of(content),
        sections.pairs(content, comparable=comparable),
        *figures[_BEFORE_PAIRS:],
        sections.paths_chosen(content),
        sections.slowest(content),
        sections.table(content),
        sections.setup(content),
    ]


def _data(content: Content, parts: dict[str, list[int]], out: Path | None) -> dict[str, Any]:
    """The script's inputs besides the tables."""
    results, fabric = content.results, content.fabric
    places = {run.point: run.dimensions for run in results.finished}
    keys = results.dimensions
    metrics = dict.fromkeys(content.intervals()["metric"])
    shown = drawing.drawn_links(fabric)
    down = [at for at, i in enumerate(shown) if not fabric.links[i].up]
    ends = [(fabric.links[i].source, fabric.links[i].target) for i in shown]
    always = failures.never_up(content.summaries[0].get("events") or [], ends, down)
    return {
        "name": results.name,
        "points": content.points,
        "keys": [short_key(key, keys) for key in keys],
        "values": [[_plain(places[point].get(key)) for key in keys] for point in content.points],
        "axis": keys.index(content.x) if content.x in keys else None,
        "axisTitle": content.x_title,
        "schemes": [
            {"name": name, "color": one.color, "dark": one.dark, "shape": one.shape, "dash": one.dash}
            for name, one in styles(content.schemes).items()
        ],
        "marks": [
            [content.points.index(point), content.schemes.index(scheme), found.label, found.text]
            for (point, scheme), found in content.marks.items()
        ],
        "baseline": content.summary.baseline,
        "classes": content.classes,
        "metrics": [{"key": m.key, "title": m.title, "kind": m.kind} for m in METRICS if m.key in metrics],
        "figures": {
            figure.ident: {
                "tables": list(figure.tables),
                "kinds": figure.kinds,
                "toggles": [toggle.name for toggle in figure.toggles],
                "measures": [measure.key for measure in figure.known(content)],
            }
            for figure in FIGURES
        },
        "links": sections.link_names(content),
        "rates": [fabric.links[i].rate_bps for i in shown],
        "titles": [drawing.title(replace(fabric.links[i], up=True), None) for i in shown],
        "down": always,
        "steps": drawing.STEPS,
        "full": drawing.FULL,
        "unsampled": run_ends.unsampled(content.summaries),
        "parts": parts,
        "trails": trails(content, out),
    }


def _specs(content: Content) -> dict[str, Any]:
    """The specifications of all charts, and their configuration: the script fills in the colours."""
    colors = {name: f"${name}" for name in ("ink", "soft", "grid", "edge", "category")}
    looks = list(styles(content.schemes).values())
    more = {
        "background": "transparent",
        "font": "system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif",
        "legend": {"disable": True},
        "style": {"band": {"opacity": 0}},
    }
    return {
        "config": config(colors | {"hatched": "$category"}, looks, **more),
        "figures": {figure.ident: figure.variants(content) for figure in FIGURES},
        "pairs": [pairs.spec(content.schemes, content.classes, log=log) for log in (False, True)],
        "link": link.spec(content),
        **({"collectives": _collectives(content)} if content.collectives else {}),
    }


def _collectives(content: Content) -> dict[str, Any]:
    """The specification of the completion of collectives, with tooltips."""
    spec = collectives.spec(content.collectives, "completion_s", content.schemes)
    bar, *_ = layers = spec["spec"]["layer"]
    texts = {
        "scheme": "datum.scheme",
        "point": "datum.point || 'all'",
        "mean over seeds": formatted("s", "mean"),
        "95 % interval": span("s"),
    }
    tip = tips(bar["encoding"]["x"], bar["encoding"]["y"], texts)
    tip["encoding"] |= {key: value for key, value in bar["encoding"].items() if key == "xOffset"}
    layers.append(tip)
    return spec


def _plain(value: Any) -> Any:
    """A value of the sweep: a number, else its text."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else show(value)


@cache
def _bundle() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script that defines `vegaEmbed`."""
    import vl_convert

    script: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return closed(script)


def _header(content: Content) -> str:
    results = content.results
    fabrics = [s.get("fabric") or {} for s in content.summaries]
    names = ", ".join(dict.fromkeys(str(fabric.get("name", "fabric")) for fabric in fabrics))
    hosts = quantity.span((fabric.get("hosts") for fabric in fabrics), quantity.count)
    simulated = quantity.span((s.get("simulated_ps", 0) / 1e12 for s in content.summaries), quantity.seconds)
    profiles = dict.fromkeys(str((s.get("transport") or {}).get("profile", "–")) for s in content.summaries)
    counts = [
        plural(len(results.finished), "run"),
        _compared(content),
        *([plural(len(content.points), "point")] if len(content.points) > 1 else []),
        plural(len(results.seeds), "seed"),
    ]
    facts = [
        f"{names}, {hosts} {'host' if hosts == '1' else 'hosts'}",
        f"transport {', '.join(profiles)}",
        f"{simulated} {'emulated' if any('emulated' in s for s in content.summaries) else 'simulated'} per run",
    ]
    missing = len(results.runs) - len(results.finished)
    if missing:
        facts.append(f"{plural(missing, 'run')} not finished")
    colors = styles(content.schemes)
    items = "".join(
        f'<li style="--c:{colors[f.scheme].color};--dark:{colors[f.scheme].dark}"><b>{named(f.scheme)}:</b> '
        f"{escape(f.text)}</li>"
        for f in findings(content.summary, content.collectives)
    )
    nothing = "" if items else no_finding(content.summary)
    of_runs = [text for summary in content.summaries for text in summary.get("warnings", [])]
    texts = list(dict.fromkeys([*results.warnings, *of_runs]))
    reasons = content.summary.unsteady()
    texts = [*(text for text in texts if not any(text in reason for reason in reasons)), *reasons]
    warnings = "".join(f"<p>{escape(text)}</p>" for text in texts)
    return (
        f'<header class="top"><div><h1>{escape(results.name)}</h1>'
        + (f"<p>{escape(results.description)}</p>" if results.description else "")
        + f'<div class="meta">{escape(" · ".join(counts))}<br>{escape(" · ".join(facts))}</div>'
        + (f'<ul class="findings">{items}</ul>' if items else "")
        + (f'<p class="meta" id="no-finding">{escape(nothing)}</p>' if nothing else "")
        + (f'<div class="warn">{warnings}</div>' if warnings else "")
        + "</div></header>"
    )


def _compared(content: Content) -> str:
    """The number of schemes, of compared values, or of combinations of both."""
    key = content.results.compared
    if key is None:
        return plural(len(content.schemes), "scheme")
    name = short_key(key, content.results.keys)
    values = len({show(run.overrides.get(key)) for run in content.results.finished})
    if len(content.schemes) > values:
        return f"{len(content.schemes)} combinations of scheme and {name}"
    return f"{values} values of {name}"


def _bar(content: Content) -> str:
    """The controls that all figures follow."""
    legend = "".join(
        _switch(name, mark(style) + f"<span>{escape(name)}</span>") for name, style in styles(content.schemes).items()
    )
    hint = "Click: hide or show. Double-click, or click with Shift: only this one."
    parts = [f'<div class="legend" role="group" aria-label="Schemes shown" title="{hint}">{legend}</div>']
    if len(content.classes) > 1:
        chips = "".join(_switch(name, escape(name)) for name in content.classes)
        parts.append(f'<div class="chips" role="group" aria-label="Classes shown" title="{hint}">{chips}</div>')
    choosers = _choosers(content)
    if choosers:
        parts.append(f'<div class="choosers" role="group" aria-label="Values of the sweep">{choosers}</div>')
    parts.append(
        '<div class="page-tools"><button type="button" id="whole" hidden>Whole time</button>'
        '<button type="button" id="labels" aria-expanded="false" aria-controls="labels-panel">Labels</button>'
        '<button type="button" id="reset" hidden>Reset</button>'
        '<button type="button" id="theme" aria-pressed="false">Dark</button></div>'
    )
    parts.append('<div id="labels-panel" role="group" aria-label="Labels in figures, SVG and CSV" hidden></div>')
    return f'<nav class="bar" aria-label="Controls of all figures"><div>{"".join(parts)}</div></nav>'


def _switch(value: str, inner: str) -> str:
    return f'<button type="button" value="{escape(value)}" aria-pressed="true">{inner}</button>'


def _choosers(content: Content) -> str:
    """A list of values for each swept key that has several."""
    keys = content.results.dimensions
    lists = []
    for at, key in enumerate(keys):
        texts = dict.fromkeys(show(run.dimensions.get(key)) for run in content.results.finished)
        if len(texts) > 1:
            lists.append(choice(f"key-{at}", short_key(key, keys), [(text, text) for text in texts]))
    return "".join(lists)
