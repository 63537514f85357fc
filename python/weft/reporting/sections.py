"""The sections of the report, with their captions and controls; `page` puts them in order."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .. import drawing, paths, quantity, run_ends
from ..content import Content
from ..figures.figure import NO_FLOW, Figure, interval_note
from ..labels import plural
from ..markup import escape
from ..palette import DIFFERENCE, DIFFERENCE_DARK, UTILISATION, UTILISATION_DARK
from . import tables
from .parts import chart, choice, section, tabs, toggle, tools


def fabric(content: Content) -> str:
    """The drawing, with controls for the scheme, the time, and a second scheme to compare with."""
    caption = (
        "Each link is drawn as two lines, one per direction. Colour and width show the share of the link's rate that "
        "was used, or its largest queue, averaged over seeds, over the measurement window or over one step of the "
        "slider; the scale ends at the same share for all schemes. With minus, they show the difference between two "
        "schemes. "
        "Click a line, or choose it in the list, for its series; dashed links are down. "
        + interval_note(content, "Point at a line for its values; in brackets:")
    )
    caption += _idle_at_the_end(content)
    if not drawing.draws_hosts(content.fabric):
        caption += f" The {len(content.fabric.hosts):,} hosts and their links are not drawn."
    if content.fabrics > 1:
        caption += f" The sweep has {content.fabrics} fabrics; this is that of the first run."
    gradients = "".join(
        f'<i class="{name}" style="background:{drawing.scale(light, dark)}"></i>'
        for name, light, dark in (
            ("use", UTILISATION, UTILISATION_DARK),
            ("change", DIFFERENCE, DIFFERENCE_DARK),
        )
    )
    others = [(name, name) for name in content.schemes]
    controls = tabs("scheme", others, "Scheme drawn")
    if len(content.schemes) > 1:
        controls += choice("other", "minus", [("", "nothing"), *others])
    controls += tabs("view", [("utilisation", "Utilisation"), ("queue", "Queue")], "Shown on links")
    links = [("", "no link"), *((str(at), name) for at, name in enumerate(link_names(content)))]
    time = (
        '<div class="time"><button type="button" id="play" aria-pressed="false">Play</button>'
        '<div class="track"><input type="range" id="time" min="-1" max="-1" step="1" value="-1" '
        'aria-label="Time in the run"><div class="events" id="time-events"></div>'
        '<i id="time-cursor" hidden></i></div>'
        '<output id="clock" for="time"></output></div><p class="caption" id="time-note"></p>'
    )
    body = (
        '<p class="caption sideways">The drawing is wider than the window: scroll it sideways.</p>'
        f'<div class="drawing" tabindex="0" role="group" aria-label="Drawing of the fabric">'
        f"{drawing.draw(content.fabric)}</div>"
        f'<div class="scale"><span id="scale-low">idle</span> {gradients} <span id="scale-high">fully used</span></div>'
        f"{time}{tools('fabric-drawing', 'links')}"
        f'<div class="pick">{choice("link", "Series of link", links)}'
        '<button type="button" id="reverse" hidden>Other direction</button></div>'
        '<div id="link-panel" hidden><p class="caption" id="link-facts"></p>'
        f"{chart('link-series', 'Series of the link')}</div>"
    )
    return section("Fabric and link utilisation", caption, body, controls=controls, ident="fabric")


def link_names(content: Content) -> list[str]:
    """The drawn links, in the order of their lines."""
    links = content.fabric.links
    return [f"{links[i].source} → {links[i].target}" for i in drawing.drawn_links(content.fabric)]


def figure(content: Content, shown: Figure, found: Iterable[str]) -> str:
    """A figure of the registry with its switches; where there is no data, the text in its place."""
    measures = [(measure.key, measure.title) for measure in shown.known(content)]
    there = bool(measures) if shown.measures else all(name in found for name in shown.tables)
    controls = tabs("metric", measures, "Measure") + "".join(
        toggle(one.name, one.label, pressed=one.pressed, title=one.title) for one in shown.toggles
    )
    return section(
        shown.title,
        shown.caption(content),
        chart(shown.ident, shown.title) if there else shown.empty(content),
        controls=controls if there else "",
        ident=f"{shown.ident}-section",
    )


def _plus_minus(content: Content) -> str:
    return interval_note(content, "±: half-width of the")


def pairs(content: Content, *, comparable: bool) -> str:
    """Two schemes, flow by flow; empty where schemes do not have the same flows."""
    if not comparable:
        return ""
    options = [(name, name) for name in content.schemes]
    return section(
        "Two schemes, flow by flow",
        "Each mark is one flow of one seed, which has the same size, ends and start under both schemes: its completion "
        "time under the first scheme (across) and under the second (up). Below the line, the second scheme is faster. "
        "The marks are a fixed sample of the flows; the table is over all flows: its ratio of completion times is the "
        "geometric mean over the flows that finished under both, with its 95 % confidence interval over seeds (not "
        "corrected for the number of classes and pairs).",
        chart("pairs", "Completion times of the same flows under two schemes")
        + '<div class="scroll" id="pairs-counts"></div><p class="caption" id="pairs-note"></p>',
        controls=choice("first", "first", options)
        + choice("second", "second", options)
        + toggle("pairs-log", "log axes", pressed=True),
        ident="pairs-section",
    )


def slowest(content: Content) -> str:
    """The slowest flows of a class under one scheme."""
    if not content.classes:
        return ""
    return section(
        "Slowest flows",
        "The flows with the largest slowdown of a class under one scheme, over all seeds; up to three unfinished flows "
        "come first. <b>Why</b> divides a flow's time among its causes. <b>Path</b> lists the switches of the flow's "
        "first data segment. <b>Exploration</b> has the command that shows how a flow found its path, if it explored.",
        '<div class="scroll"><table class="data" id="slowest"></table></div><p class="caption" id="slowest-note"></p>'
        '<p class="caption" id="why-note"></p><div id="flow-panel" hidden></div>',
        controls=tabs("slow", [(name, name) for name in content.classes], "Class")
        + choice("slow-scheme", "under", [(name, name) for name in content.schemes]),
        ident="slowest-section",
    )


def table(content: Content) -> str:
    """The comparison as a table that can be copied."""
    baseline = content.summary.baseline
    note = (
        f" Below: difference from <b>{escape(str(baseline))}</b> paired by seed, green if better, red if worse. "
        "Hover over a difference for its interval."
        if any(row.differences for row in content.summary.rows)
        else ""
    )
    note += "".join(f" {escape(sentence)}" for sentence in content.summary.signs())
    missing = "".join(
        f'<p class="caption">{escape(point)}: no flow started in the measurement window.</p>'
        for point in content.summary.without_flows
    )
    missing += "".join(f'<p class="caption">{escape(line)}</p>' for line in content.summary.unsteady())
    return section(
        "All numbers",
        f"Each number is one value per run (a mean, quantile, share or count over its flows), averaged over the seeds. "
        f"{_plus_minus(content)}{note} Click a heading to sort, a class for its slowest flows. "
        "Copying gives tab-separated raw numbers (seconds, bit/s, shares).",
        f'<div class="scroll">{tables.comparison(content)}</div>{missing}' if content.classes else NO_FLOW,
        controls=(toggle("only-point", "only the chosen point") if len(content.points) > 1 else "")
        + '<button type="button" class="copy" id="copy">Copy table</button>'
        if content.classes
        else "",
        ident="table",
    )


def _idle_at_the_end(content: Content) -> str:
    """A sentence on the measurement window, if a tenth of it or more is left after all runs at a point."""
    early = run_ends.early(content.results)
    if not early:
        return ""
    last = quantity.span((ps / 1e12 for ps in early.values()), quantity.seconds)
    where = (
        ""
        if len(content.points) == 1
        else f" at {plural(len(early), 'point')}"
        + ("" if len(early) == len(content.points) else f" of {len(content.points)}")
    )
    return escape(
        f" The last run{where} ended after {last}, before the end of the measurement window: utilisation is over the "
        "time until then."
    )


def paths_chosen(content: Content) -> str:
    """Path selection of exploring schemes and the impact of events; empty if there is none of them."""
    choices, events = paths.choices(content.results), paths.events(content.results)
    blocks = ""
    if choices:
        blocks += section(
            "Path selection and its overhead",
            "Each number is one value per run, averaged over the seeds. Path evenness is Jain's fairness index of the "
            "bytes on the lowest switches' uplinks in the measurement window: 1 if all carry the same. Exploration and "
            "broadcast traffic is relative to all other bytes into these switches. Flow entries are averaged over "
            f"switches and over the samples in the measurement window. {_plus_minus(content)}",
            f'<div class="scroll">{tables.paths(choices, paths.COLUMNS, "paths")}</div>',
            ident="paths-section",
        )
    if events:
        blocks += section(
            "Impact of events",
            "From each event until the next: flows' frames lost on failed links or for lack of a path, the time until "
            "switches had replaced broken paths, and the time until the affected flows' data arrived again. "
            f"Each number is one value per run, averaged over the seeds. {_plus_minus(content)}",
            f'<div class="scroll">{tables.paths(events, paths.EVENT_COLUMNS, "events")}</div>',
            ident="events-section",
        )
    return blocks


def collectives(content: Content) -> str:
    """Completion of collectives; empty without any."""
    rows = content.collectives
    if not rows:
        return ""
    return section(
        "Collectives",
        "From the first start of a round to the last byte received, averaged over the rounds of a run and over the "
        "seeds. The lower bound, averaged likewise, is that of the hosts' links alone: the longest chain of flows, or "
        "a link of a host. Times the bound is the mean of the rounds' ratios. "
        f"{_plus_minus(content)} {escape(paths.note(rows, content.summary.baseline))}",
        chart("collective-time", "Completion time of collectives")
        + f'<div class="scroll">{tables.paths(rows, paths.COLLECTIVE_COLUMNS, "collectives")}</div>',
        ident="collectives-section",
    )


def setup(content: Content) -> str:
    """Scenario, versions, seeds, transport parameters and packet counts."""
    results, summaries = content.results, content.summaries
    traffic = [s.get("traffic") or {} for s in summaries]
    notes = list(dict.fromkeys(str(note) for t in traffic for note in t.get("notes", [])))
    counters: dict[str, float] = {}
    for summary in summaries:
        for name, value in (summary.get("counters") or {}).items():
            parts = {f"{name}: {k}": v for k, v in value.items()} if isinstance(value, dict) else {name: value}
            for key, amount in parts.items():
                if amount is not None:
                    counters[key] = counters.get(key, 0) + amount
    facts = [
        ("Weft", [results.version]),
        ("Seeds", [", ".join(str(seed) for seed in results.seeds)]),
        ("Runs", [f"{len(results.finished)} of {len(results.runs)}"]),
        ("Flows per run", [quantity.span((t.get("flows") for t in traffic), quantity.count)]),
        ("Mean flow size", [quantity.span((t.get("mean_bytes") for t in traffic), quantity.size)]),
        *([("Offered load", [offered])] if (offered := _offered_load(traffic)) else []),
    ]
    packets = [(name.replace("_", " "), [f"{value:,.0f}"]) for name, value in counters.items()]
    blocks = [
        ("Versions and seeds", tables.properties(facts)),
        ("Packets, total over all runs", tables.properties(packets)),
        ("Notes from the traffic generator", "".join(f'<p class="caption">{escape(note)}</p>' for note in notes)),
    ]
    right = "".join(f"<h3>{title}</h3>{block}" for title, block in blocks if block)
    body = (
        f'<div class="columns"><div>{_what_was_run(content)}</div><div>{right}</div></div>'
        f"<h3>Transport: all parameters</h3>{tables.transports(summaries)}"
    )
    return section("Setup", "Everything needed to repeat these runs.", body, "setup")


def _what_was_run(content: Content) -> str:
    """The scenario; for runs without one, the settings of the first run."""
    if content.results.has_scenario:
        return f"<h3>Scenario, exactly as run</h3><pre>{escape(content.results.scenario_text)}</pre>"
    settings = json.dumps(content.summaries[0].get("setup") or {}, indent=2)
    return f"<h3>No scenario; the first run's settings</h3><pre>{escape(settings)}</pre>"


def _offered_load(traffic: Sequence[Mapping[str, Any]]) -> str:
    """The smallest and largest offered load, and its reference; empty if no load was set."""
    loads = [t["offered_load"] for t in traffic if t.get("offered_load") is not None]
    of = dict.fromkeys(str(t["load_of"]) for t in traffic if t.get("load_of"))
    return f"{quantity.span(loads, quantity.percent)} of {', '.join(of) or 'capacity'}" if loads else ""
