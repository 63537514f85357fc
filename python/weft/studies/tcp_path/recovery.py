"""Runs in which a link fails, by the number of hops between the failure and the source (section III-D of the paper).

A ring of switches has one shortest path between two hosts and one other path, so that all schemes use the same link
before it fails and the same links afterwards. One flow, one failure per run: the link after the source's edge switch,
the link after the next one, and so on.
"""

from typing import Any

import polars as pl

from ...results import Results
from ...scenario import Scenario
from ..base import Simulated

SWITCHES = 12
"""Switches of the ring."""
LINKS = 5
"""Links on the flow's path between switches; the other path has `SWITCHES` - `LINKS`."""
SCHEMES = ("ecmp", "arp_path", "tcp_path")
REACTION_MS = 10
"""Time after which computed routes react, Weft's default."""
FAILS_MS = 40
"""When the link fails: the flow fills the path by then."""
PREFIX = "recovery_"
"""Prefix of the names of parts."""

SCHEMA: dict[str, Any] = {
    "hops": pl.Int64,
    "scheme": pl.String,
    "lost": pl.Int64,
    "losing_s": pl.Float64,
    "moved_s": pl.Float64,
    "resumed_s": pl.Float64,
}
"""A row per run: switches between the source's edge and the failure; frames lost; time from the failure to the last of
them, to another path, and to the next data that arrives. Null if it never happened."""


def parts(rules: str) -> list[Simulated]:
    """A scenario for each failing link; `rules` are the lines of ``[scheme]`` that follow the papers."""
    return [
        Simulated(f"{PREFIX}{hops}", Scenario.from_text(text(hops, rules), f"recovery-{hops}.toml"))
        for hops in range(LINKS)
    ]


def text(hops: int, rules: str) -> str:
    """The scenario in which the link `hops` switches behind the source's edge fails."""
    schemes = ", ".join(f'"{scheme}"' for scheme in SCHEMES)
    return f"""\
name = "tcp-path, recovery, {hops} hops"

[fabric]
kind = "ring"
switches = {SWITCHES}
hosts_per_switch = 1
rate = "1 Gbps"
delay = "1 us"
queue = "100 packets"
reaction = "{REACTION_MS} ms"

[traffic]
flow_list = [{{ src = "h0", dst = "h{LINKS}", bytes = "50 MB" }}]

[scheme]
name = "tcp_path"
{rules}

[transport]
profile = "linux"

[[event]]
at = "{FAILS_MS} ms"
fail = "s{hops}-s{hops + 1}"

[run]
limit = "20 s"
warm = true

[measure]
baseline = "ecmp"

[sweep]
"scheme.name" = [{schemes}]
"""


def rows(name: str, part: Results) -> list[dict[str, Any]]:
    """The rows of a part's runs."""
    return [_row(int(name.removeprefix(PREFIX)), summary) for summary in part.summaries()]


def _row(hops: int, summary: dict[str, Any]) -> dict[str, Any]:
    event = summary["events"][0]
    seconds = {
        to: None if event[key] is None else event[key] / 1e12
        for to, key in (
            ("losing_s", "recovery_ps"),
            ("moved_s", "mean_path_recovery_ps"),
            ("resumed_s", "mean_resumption_ps"),
        )
    }
    return {"hops": hops, "scheme": summary["scheme"]["name"], "lost": event["frames_lost"]} | seconds


def of_scheme(table: pl.DataFrame, scheme: str, column: str) -> dict[int, Any]:
    """A column of a scheme by number of hops, without runs in which it never happened."""
    chosen = table.filter((pl.col("scheme") == scheme) & pl.col(column).is_not_null()).sort("hops")
    return dict(chosen.select("hops", column).iter_rows())
