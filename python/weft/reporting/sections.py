"""The sections of the report, with their captions and controls."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from .. import extracts, paths, quantity
from ..content import Content
from ..difference import NOT_SIGNIFICANT
from . import charts, drawing, tables
from .markup import escape
from .parts import chart, section, tabs
from .use import link_use

_FCT = (
    ("mean_fct_s", "Mean"),
    ("median_fct_s", "Median"),
    ("p99_fct_s", "99th percentile"),
    ("mean_slowdown", "Slowdown"),
)
_THROUGHPUT = (
    ("mean_throughput_bps", "Throughput"),
    ("out_of_order_share", "Out of order"),
    ("retransmissions", "Retransmissions"),
    ("drops", "Drops"),
)
_NONE_ENDED = "<p>No flow finished.</p>"
_NO_FLOW = "<p>No flow started in the measurement window.</p>"
_UNTIL = "The time axis ends with the measurement window, unless most data was delivered after it."


def fabric(content: Content) -> str:
    """The drawing, with a control for the scheme."""
    use = link_use(content)[content.points[0]][content.schemes[0]]["utilisation"]
    by_link = dict(zip(drawing.drawn_links(content.fabric), use, strict=True))
    shares = [by_link.get(i, 0) / 1000 for i in range(len(content.fabric.links))]
    stops = ", ".join(drawing.shade(i / 10) for i in range(11))
    caption = (
        "Each link is drawn as two lines, one per direction. The colour shows the share of the link's rate that was "
        "used in the measurement window, averaged over seeds. Hover over a line for details; dashed links are down."
    )
    if not drawing.draws_hosts(content.fabric):
        caption += f" The {len(content.fabric.hosts):,} hosts and their links are not drawn."
    if content.fabrics > 1:
        caption += f" The sweep has {content.fabrics} fabrics; this is that of the first run."
    scale = f'<div class="scale">idle <i style="background:linear-gradient(90deg,{stops})"></i> fully used</div>'
    return section(
        "Fabric and link utilisation",
        caption,
        f'<div class="drawing">{drawing.draw(content.fabric, shares)}</div>{scale}',
        controls=tabs("scheme", [(name, name) for name in content.schemes]),
        ident="fabric",
    )


def _by_class(
    content: Content,
    ident: str,
    title: str,
    caption: str,
    metrics: Sequence[tuple[str, str]],
    label: str,
) -> str:
    intervals = content.intervals()
    known = set(intervals["metric"])
    shown = [(key, name) for key, name in metrics if key in known]
    if not shown:
        return section(title, caption, _none(content), ident=f"{ident}-section")
    spec = charts.by_class(
        intervals,
        metrics=[key for key, _ in shown],
        label=label,
        x=(content.x, content.x_title) if content.x else None,
        row="panels" if content.others else None,
    )
    return section(title, caption, chart(ident, spec, title), controls=tabs("metric", shown), ident=f"{ident}-section")


def _none(content: Content) -> str:
    """The placeholder for a figure about flows that has no data."""
    return _NONE_ENDED if content.classes else _NO_FLOW


def _interval_note(content: Content, begin: str = "Vertical lines:") -> str:
    if len(content.results.seeds) > 1:
        return f"{begin} 95 % confidence interval of the mean over {len(content.results.seeds)} seeds (Student t)."
    return "With one seed there is no confidence interval."


def _plus_minus(content: Content) -> str:
    return _interval_note(content, "±: half the")


def completion(content: Content) -> str:
    """FCT and slowdown by class."""
    label = f"metric == 'mean_slowdown' ? format(datum.value, '.3~r') : {charts.SECONDS}"
    return _by_class(
        content,
        "completion",
        "Flow completion time by class",
        "From connection setup to delivery of the last byte to the receiving application. Slowdown is relative to the "
        f"same flow on an otherwise idle fabric. {_interval_note(content)}",
        _FCT,
        label,
    )


def throughput(content: Content) -> str:
    """Throughput, reordering, retransmissions and drops by class."""
    label = (
        f"metric == 'mean_throughput_bps' ? {charts.RATE} : metric == 'out_of_order_share' ? {charts.PERCENT} "
        ": format(datum.value, '.3~s')"
    )
    return _by_class(
        content,
        "throughput",
        "Throughput, reordering and loss by class",
        "Throughput is flow size divided by completion time, averaged over flows. Out of order is the share of first "
        "transmissions that arrive after a later one. Retransmissions and drops are per run. "
        + _interval_note(content),
        _THROUGHPUT,
        label,
    )


def _figure(name: str, title: str, caption: str, body: str | dict[str, Any]) -> str:
    """A section with one chart, or its placeholder."""
    shown = body if isinstance(body, str) else chart(name, body, title)
    return section(title, caption, shown, ident=f"{name}-section")


def curves(content: Content) -> str:
    """FCT distributions."""
    frame = extracts.completion_curves(content.results)
    return _figure(
        "curves",
        "Distribution of flow completion times",
        "Cumulative share of flows by completion time, all seeds pooled.",
        _none(content)
        if frame.is_empty()
        else charts.completion(frame, content.classes, content.schemes, content.points),
    )


def over_time(content: Content) -> str:
    """Delivered bytes over time."""
    frame = extracts.throughput_over_time(content.results)
    return _figure(
        "over-time",
        "Throughput over time",
        "Bytes delivered to the receiving applications, summed over the flows of a class, averaged over seeds. "
        + _UNTIL,
        charts.throughput(frame, content.classes, content.schemes, content.points) if content.classes else _NO_FLOW,
    )


def queues(content: Content) -> str:
    """Queue occupancy, over time and as a distribution."""
    exceedance = extracts.queue_exceedance(content.results)
    if exceedance.is_empty():
        body = "<p>All sampled queues were empty, or the fabric is too large to sample its links.</p>"
    else:
        largest = extracts.largest_queue(content.results)
        spec = charts.queues(largest, exceedance, content.schemes, content.points)
        body = chart("queues", spec, "Queue occupancy")
    return section(
        "Queues",
        f"Left: the fullest queue in the fabric, averaged over seeds. {_UNTIL} Right: complementary CDF of queue "
        "occupancy (all switch ports, samples in the measurement window); lower and further left is better.",
        body,
        ident="queues-section",
    )


def table(content: Content) -> str:
    """The comparison as a table that can be copied."""
    baseline = content.summary.baseline
    note = (
        f" Coloured: difference from <b>{escape(baseline)}</b> paired by seed, green if better, red "
        f"if worse; {NOT_SIGNIFICANT} means no significant difference (the 95 % interval contains zero). Hover over a "
        "difference for its interval."
        if baseline
        else ""
    )
    missing = "".join(
        f'<p class="caption">{escape(point)}: no flow started in the measurement window.</p>'
        for point in content.summary.without_flows
    )
    return section(
        "All numbers",
        f"Each number is one value per run (a mean, quantile, share or count over its flows), averaged over the seeds. "
        f"{_plus_minus(content)}{note} Copying gives tab-separated raw numbers (seconds, bit/s, shares).",
        f'<div class="scroll">{tables.comparison(content.summary)}</div>{missing}' if content.classes else _NO_FLOW,
        controls='<button type="button" class="copy" id="copy">Copy table</button>' if content.classes else "",
        ident="table",
    )


def paths_chosen(content: Content) -> str:
    """Path selection of exploring schemes and the impact of events; empty if there is neither."""
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
    told = json.dumps(content.summaries[0].get("setup") or {}, indent=2)
    return f"<h3>No scenario; the first run's settings</h3><pre>{escape(told)}</pre>"


def _offered_load(traffic: Sequence[Mapping[str, Any]]) -> str:
    """The smallest and largest offered load, and its reference; empty if no load was set."""
    loads = [t["offered_load"] for t in traffic if t.get("offered_load") is not None]
    of = dict.fromkeys(str(t["load_of"]) for t in traffic if t.get("load_of"))
    return f"{quantity.span(loads, quantity.percent)} of {', '.join(of) or 'capacity'}" if loads else ""


ORDER = (fabric, completion, throughput, curves, over_time, queues, paths_chosen, table, setup)
"""The sections in reading order."""
