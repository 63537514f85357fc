"""With one path between any two hosts no scheme can gain anything: all must give the same completion times."""

from __future__ import annotations

import json
from pathlib import Path

import polars
import pytest

import weft

SCENARIO = """
[fabric]
{fabric}
rate = "10 Gbps"

[[traffic]]
flow_list = [{flows}]

[run]
duration = "200 ms"
warm = true

[transport]
{transport}

[scheme]
name = "ecmp"
"""
ONE_SPINE = 'kind = "spine-leaf"\nspines = 1\nleaves = 3\nhosts_per_leaf = 3'
TREE = 'kind = "fat-tree"\nk = 2'
"""The fat-tree with one path, for Tag-and-Forward."""

BUSY = [
    ("h0", "h3", "600 kB", 0),
    ("h1", "h4", "300 kB", 20),
    ("h2", "h6", "20 kB", 40),
    ("h6", "h0", "1 MB", 50),
    ("h3", "h7", "5 kB", 60),
    ("h8", "h1", "90 kB", 70),
]
"""Source, destination, size, and start in microseconds: flows that meet at the spine's links and at hosts."""
ALONE = [(source, destination, size, 20_000 * place) for place, (source, destination, size, _) in enumerate(BUSY)]
ON_TREE = [("h0", "h1", "600 kB", 0), ("h1", "h0", "20 kB", 20_000)]

MARKS = '\necn_threshold = "65 packets"'
PROTOCOLS = [one["properties"]["protocol"]["const"] for one in weft.schema()["properties"]["transport"]["anyOf"]]
TRANSPORTS = {f'profile = "{entry["name"]}"': "" for entry in weft.profiles()}
TRANSPORTS |= {f'protocol = "{name}"': "" for name in PROTOCOLS if name != "tcp"}
TRANSPORTS |= {'profile = "dctcp"': MARKS, 'profile = "linux"\nmptcp = "ndiffports"': "", 'protocol = "roce"': MARKS}
"""The fabric's lines of each transport."""
AT_ONCE = ["scheme.control_delay=0 s", "scheme.rule_latency=0 s"]
"""A controller that takes no time: its delay for each connection is no property of paths."""

ADDS_BYTES = {entry["name"] for entry in weft.schemes() if entry["explores"] or entry["has_own_frames"]}
"""Schemes with longer SYNs, or with frames of their own. Among other flows these shift marks and losses."""
LATER_PS, TAGGED = 2_000_000, 0.015
"""Largest difference of a flow that is alone: own frames, in picoseconds; a tag of 8 bytes in frames of 590 bytes."""


def completion_times(
    fabric: str, flows: list[tuple[str, str, str, int]], transport: str, directory: Path, schemes: list[str], *sets: str
) -> dict[str, list[int]]:
    """The flows' completion times, in picoseconds, by scheme."""
    listed = ", ".join(
        f'{{ src = "{src}", dst = "{dst}", bytes = "{size}", start = "{start} us" }}' for src, dst, size, start in flows
    )
    text = SCENARIO.format(fabric=fabric + TRANSPORTS[transport], flows=listed, transport=transport)
    scenario = weft.Scenario.from_text(f'sweep."scheme.name" = {json.dumps(schemes)}\n{text}').with_sets(sets)
    results = scenario.run(directory)
    found = {}
    for run in results.runs:
        flows = polars.read_parquet(run.path / "flows.parquet").sort("flow")
        assert flows["fct_ps"].null_count() == 0, run.label
        found[run.scheme] = flows["fct_ps"].to_list()
    return found


def farthest(times: list[int], usual: list[int]) -> float:
    """The largest difference of a flow's completion times."""
    return max(abs(time - other) for time, other in zip(times, usual, strict=True))


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_with_one_path_all_schemes_give_the_same_completion_times(transport, tmp_path):
    is_tcp = "profile" in transport and "mptcp" not in transport
    able = [entry["name"] for entry in weft.schemes() if is_tcp or entry["decides"] != "hosts"]
    names = [name for name in able if name not in ("tag_forward", "smoc")]
    for flows, title in ((BUSY, "busy"), (ALONE, "alone")):
        found = completion_times(ONE_SPINE, flows, transport, tmp_path / title, names)
        found |= completion_times(ONE_SPINE, flows, transport, tmp_path / f"smoc-{title}", ["smoc"], *AT_ONCE)
        for name, times in found.items():
            if name not in ADDS_BYTES:
                assert times == found["ecmp"], f"{name}, {title}"
            elif flows is ALONE:
                assert farthest(times, found["ecmp"]) < LATER_PS, name
    tagged = completion_times(TREE, ON_TREE, transport, tmp_path / "tree", ["ecmp", "tag_forward"])
    for time, usual in zip(tagged["tag_forward"], tagged["ecmp"], strict=True):
        assert usual <= time < (1 + TAGGED) * usual


def test_a_cold_start_costs_an_exploring_scheme_the_address_resolution(tmp_path):
    transport = 'profile = "linux"'
    cold = completion_times(ONE_SPINE, ALONE, transport, tmp_path / "cold", ["ecmp", "tcp_path"], "run.warm=false")
    warm = completion_times(ONE_SPINE, ALONE, transport, tmp_path / "warm", ["ecmp", "tcp_path"])
    assert cold["ecmp"] == warm["ecmp"]
    assert all(late > early for late, early in zip(cold["tcp_path"], warm["tcp_path"], strict=True))
