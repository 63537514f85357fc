"""External traffic and queue shaping (sections III-B and III-D of the paper), simulated on the fabric of its Figure 1.

The emulated hosts measure speed; here rates are those of the links, so that queues fill and their shares can be read.
"""

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from ...results import Results
from ...scenario import Scenario
from ...statistics import Estimate
from ..base import Simulated
from ..outcome import StudyRow
from ..rows import not_measured, row
from .fabric import FILE, OUTSIDE, SERVERS

FABRICS = Path(__file__).parent / "fabrics"
"""The fabric of Figure 1 as a file for scenarios."""
TRAFFIC, QUEUES = "external", "queues"
"""The names of the parts."""
HOPS = 4
"""Links between a server and an external host: edge, aggregation and core switch between them."""
EXTERNAL_WEIGHT, INTERNAL_WEIGHT = 1, 3
"""Weights of the queues of external traffic, QID 1, and of the last queue, in which other packets wait."""
CLOSE = 0.02
"""Largest distance of a share from that of its weight."""


def parts() -> list[Simulated]:
    """Flows between servers and external hosts; an external and an internal flow that compete for a server's link."""
    texts = {TRAFFIC: traffic(), QUEUES: queues()}
    return [Simulated(name, Scenario.from_text(text, f"{name}.toml", FABRICS)) for name, text in texts.items()]


def traffic() -> str:
    """A flow from every server to every external host, and one back."""
    pairs = [pair for server in SERVERS for outside in OUTSIDE for pair in ((server, outside), (outside, server))]
    flows = [
        f'    {{ src = "{src}", dst = "{dst}", bytes = "100 kB", start = "{number} ms" }},'
        for number, (src, dst) in enumerate(pairs)
    ]
    return f"""\
name = "tag-and-forward, external traffic"

[fabric]
file = "{FILE}"
rate = "1 Gbps"
delay = "5 us"

[traffic]
flow_list = [
{chr(10).join(flows)}
]

[scheme]
name = "tag_forward"

[run]
limit = "10 s"
"""


def queues() -> str:
    """Twice the capacity of a server's link, half of it from outside, with and without QIDs."""
    return f"""\
name = "tag-and-forward, queues"

[fabric]
file = "{FILE}"
rate = "1 Gbps"
delay = "5 us"
queue = "100 packets"
queues = {{ scheduler = "drr", weights = [1, {EXTERNAL_WEIGHT}, {INTERNAL_WEIGHT}] }}

[traffic]
flow_list = [
    {{ src = "{SERVERS[-1]}", dst = "{SERVERS[0]}", bytes = "100 MB", class = "internal" }},
    {{ src = "{OUTSIDE[0]}", dst = "{SERVERS[0]}", bytes = "100 MB", class = "external" }},
]

[scheme]
name = "tag_forward"

[transport]
protocol = "udp"
rate = "900 Mbps"

[run]
limit = "10 s"

[sweep]
"scheme.qid" = ["none", "external"]
"""


def judge(results: Mapping[str, Results]) -> list[StudyRow]:
    """The rows G6 and G7."""
    return [_traffic(results.get(TRAFFIC)), _queues(results.get(QUEUES))]


def _traffic(part: Results | None) -> StudyRow:
    """Holds if every flow finishes, every frame crosses an edge, an aggregation and a core switch, and none is lost."""
    claim = (
        "servers and the external network reach each other: UP leads to a core's external gate, DOWN back to the server"
    )
    if part is None or not part.finished:
        return not_measured("G6", claim, "% of flows", "not run")
    counters = [summary["counters"] for summary in part.summaries()]
    total = {key: sum(one[key] for one in counters) for key in ("flows_started", "flows_finished", "packets_sent")}
    lost = sum(sum(one["packets_dropped"].values()) for one in counters)
    hops = sum(one["packet_hops"] for one in counters) / total["packets_sent"]
    holds = total["flows_finished"] == total["flows_started"] and hops == HOPS and lost == 0
    share = Estimate(100 * total["flows_finished"] / total["flows_started"], None, None, 1)
    notes = [f"simulated: {total['flows_started']} flows, {hops:g} links for each frame, {lost} frames lost"]
    return row("G6", claim, holds, share, "% of flows", notes)


def _queues(part: Results | None) -> StudyRow:
    """Holds if external traffic gets the share of its queue's weight within `CLOSE`, the rest the other one."""
    claim = "the QID of a tag selects the queue of every gate: traffic is shaped without a flow table on the way"
    unit = "% of a server's link for external traffic"
    if part is None or len(part.finished) < 2:
        return not_measured("G7", claim, unit, "not run")
    runs = zip(part.finished, part.summaries(), strict=True)
    shares = {summary["overrides"]["scheme.qid"]: _share(part, run.id) for run, summary in runs}
    weight = EXTERNAL_WEIGHT / (EXTERNAL_WEIGHT + INTERNAL_WEIGHT)
    shaped = shares["external"]
    notes = [
        f"simulated: {100 * weight:.0f} % by weights {EXTERNAL_WEIGHT} and {INTERNAL_WEIGHT};"
        f" without QIDs, in one queue, {100 * shares['none']:.1f} %"
    ]
    return row("G7", claim, abs(shaped - weight) <= CLOSE, Estimate(100 * shaped, None, None, 1), unit, notes)


def _share(part: Results, run: str) -> float:
    """The external flow's share of the packets that arrived."""
    flows = part.flows(measured=False).filter(pl.col("run") == run)
    arrived = dict(flows.select("class", pl.col("packets_sent") - pl.col("drops")).iter_rows())
    return float(arrived["external"] / (arrived["external"] + arrived["internal"]))
