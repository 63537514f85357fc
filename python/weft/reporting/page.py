"""The page: head, controls and sections in reading order.

All scripts, styles and data are inline; the content security policy forbids every connection.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from .. import quantity
from ..content import Content
from ..labels import plural, short_key
from ..palette import styles
from . import drawing, sections, tables
from .findings import findings
from .markup import closed, data_block, escape
from .parts import asset, mark, policy, style
from .use import link_use

if TYPE_CHECKING:
    from ..results import Results


def render(results: Results, *, baseline: str | None = None) -> str:
    """The page as HTML text."""
    content = Content(results, baseline)
    body = "".join(section(content) for section in sections.ORDER)
    scripts = [_bundle(), asset("page.js")]
    data = {
        "points": content.points,
        "schemes": content.schemes,
        "steps": drawing.STEPS,
        "links": [drawing.title(content.fabric.links[i], None) for i in drawing.drawn_links(content.fabric)],
        "use": link_use(content),
    }
    return "\n".join(
        [
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{escape(policy(*scripts, evaluates=True))}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">',
            f"<title>{escape(results.name)} – Weft</title><style>{style()}</style></head><body>",
            "<noscript>The charts on this page need JavaScript; the tables do not.</noscript>",
            _header(content),
            _bar(content),
            f"<main>{body}</main>",
            f"<footer><main>Made by Weft {escape(results.version)}. This page works offline.</main></footer>",
            data_block("page-data", data),
            data_block("tsv", tables.tsv(content.summary)),
            *(f"<script>{script}</script>" for script in scripts),
            "</body></html>\n",
        ]
    )


@cache
def _bundle() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script that defines `vegaEmbed`."""
    import altair
    import vl_convert

    major, minor = altair.SCHEMA_VERSION.lstrip("v").split(".")[:2]
    script: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=f"{major}.{minor}")
    return closed(script)


def _header(content: Content) -> str:
    results = content.results
    fabrics = [s.get("fabric") or {} for s in content.summaries]
    hosts = quantity.span((fabric.get("hosts") for fabric in fabrics), quantity.count)
    simulated = quantity.span((s.get("simulated_ps", 0) / 1e12 for s in content.summaries), quantity.seconds)
    profiles = dict.fromkeys(str((s.get("transport") or {}).get("profile", "–")) for s in content.summaries)
    counts = [
        plural(len(results.finished), "run"),
        plural(len(content.schemes), "scheme")
        if results.compared is None
        else f"{len(content.schemes)} values of {short_key(results.compared, results.keys)}",
        *([plural(len(content.points), "point")] if len(content.points) > 1 else []),
        plural(len(results.seeds), "seed"),
    ]
    facts = [
        f"{', '.join(dict.fromkeys(str(fabric.get('name', 'fabric')) for fabric in fabrics))}, {hosts} hosts",
        f"transport {', '.join(profiles)}",
        f"{simulated} {'emulated' if any('emulated' in s for s in content.summaries) else 'simulated'} per run",
    ]
    missing = len(results.runs) - len(results.finished)
    if missing:
        facts.append(f"{plural(missing, 'run')} not finished")
    colors = styles(content.schemes)
    items = "".join(
        f'<li style="--c:{colors[f.scheme].color}"><b>{escape(f.scheme)}:</b> {escape(f.text)}</li>'
        for f in findings(content.summary)
    )
    texts = list(dict.fromkeys(w for summary in content.summaries for w in summary.get("warnings", [])))
    warnings = "".join(f"<p>{escape(text)}</p>" for text in texts)
    return (
        f'<header class="top"><div><h1>{escape(results.name)}</h1>'
        + (f"<p>{escape(results.description)}</p>" if results.description else "")
        + f'<div class="meta">{escape(" · ".join(counts))}<br>{escape(" · ".join(facts))}</div>'
        + (f'<ul class="findings">{items}</ul>' if items else "")
        + (f'<div class="warn">{warnings}</div>' if warnings else "")
        + "</div></header>"
    )


def _bar(content: Content) -> str:
    legend = "".join(f"<span>{mark(style)}{escape(name)}</span>" for name, style in styles(content.schemes).items())
    chooser = ""
    if len(content.points) > 1:
        options = "".join(f'<option value="{escape(p)}">{escape(p)}</option>' for p in content.points)
        chooser = f'<label>Fabric, distributions and time series for <select id="point">{options}</select></label>'
    return f'<div class="bar"><div><div class="legend">{legend}</div>{chooser}</div></div>'
