"""Path choices and the cost of events, from a real sweep: tables, JSON and report."""

from __future__ import annotations

import json
from statistics import mean

import polars as pl
import pytest

from weft import Scenario, paths
from weft.reporting import write

SCENARIO = """
[fabric]
reaction = "0 s"
kind = "spine-leaf"
spines = 2
leaves = 3
hosts_per_leaf = 3
rate = "1 Gbps"

[traffic]
sizes = { fixed = "200 kB" }
load = 0.4

[scheme]
name = "tfe"
classifier = "auto"
elephant_bytes = "50 kB"

[run]
duration = "40 ms"
seeds = 2

[measure]
interval = "5 ms"
window = ["10 ms", "30 ms"]

[[event]]
at = "15 ms"
fail = "l0-s0"

[[event]]
at = "25 ms"
heal = "l0-s0"

[sweep]
"scheme.name" = ["ecmp", "arp_path", "tfe", "tcp_path"]
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("paths") / "results"
    return Scenario.from_text(SCENARIO, "paths.toml").run(folder)


def test_schemes_that_explore_say_what_it_cost_and_the_others_that_it_cost_nothing(results):
    rows = {row.scheme: row.estimates for row in paths.choices(results)}
    assert set(rows) == {"ecmp", "arp_path", "tfe", "tcp_path"}
    assert {rows["ecmp"][key].mean for key in ("explored", "flow_entries", "broadcast_share")} == {0}
    flows = sum(results.flows()["scheme"] == "tcp_path") / len(results.seeds)
    assert rows["tcp_path"]["explored"].mean == pytest.approx(flows, rel=0.1)
    assert 0 < rows["tcp_path"]["exploration_s"].mean < 1e-2
    assert rows["tcp_path"]["exploration_share"].mean > rows["arp_path"]["exploration_share"].mean
    assert rows["tfe"]["moves"].mean > 0
    assert 0 < rows["tfe"]["explored"].mean <= flows * 1.5


def evenness(summary):
    """Jain's index of the bytes that a leaf sends to the spines, averaged over the leaves that send any."""
    found = []
    for leaf in ("l0", "l1", "l2"):
        links = [link for link in summary["links"] if link["from"] == leaf and link["to"].startswith("s")]
        sent = [link["window_bytes"] for link in links]
        assert len(sent) == 2
        if sum(sent):
            found.append(sum(sent) ** 2 / (len(sent) * sum(one**2 for one in sent)))
    return mean(found)


def test_path_evenness_is_jains_index_of_the_bytes_of_each_leafs_uplinks(results):
    by_scheme = {}
    for run, summary in zip(results.finished, results.summaries(), strict=True):
        by_scheme.setdefault(run.scheme, []).append(evenness(summary))
    shown = {row.scheme: row.estimates["path_evenness"].mean for row in paths.choices(results)}
    assert shown == pytest.approx({scheme: mean(found) for scheme, found in by_scheme.items()}, rel=1e-9)


def test_the_mean_table_is_over_the_samples_of_the_window(results):
    run, summary = next(
        (run, s) for run, s in zip(results.finished, results.summaries(), strict=True) if run.scheme == "tcp_path"
    )
    summary = paths.sampled(results)(run, summary)
    series = pl.read_parquet(run.path / "series.parquet").filter(pl.col("metric") == "flow_entries")
    within = series.filter(pl.col("time_ps").is_between(10_000_000_000, 30_000_000_000, closed="right"))
    # Four samples, at 15, 20, 25 and 30 ms, of five switches.
    assert paths.mean_entries(summary) == pytest.approx(within["value"].sum() / 20)
    assert paths.most_entries(summary) == series["value"].max()


def test_events_are_in_order_with_what_each_cost(results):
    rows = paths.events(results)
    assert [row.event for row in rows[:4]] == ["0.015 s: fail l0-s0"] * 4
    assert {row.event for row in rows[4:]} == {"0.025 s: heal l0-s0"}
    failed = {row.scheme: row.estimates for row in rows[:4]}
    assert failed["tcp_path"]["paths_recovered"].mean == failed["tcp_path"]["paths_broken"].mean > 0
    assert failed["tcp_path"]["mean_path_recovery_s"].mean < 5e-3
    assert failed["ecmp"]["paths_recovered"].mean == 0
    assert failed["ecmp"]["recovery_s"].mean == 0, "routes change at once: only frames on the link are lost"


def test_every_flow_has_its_path_and_what_it_waited_for(results):
    flows = results.flows(measured=False)
    seen = flows.filter(pl.col("path").is_not_null())
    assert len(seen) > 0.9 * len(flows)
    hops = seen["path"].cast(pl.String).str.split(" ").list.len()
    # Three switches or, if a race of an exploration goes via another leaf, five.
    assert set(hops) <= {3, 5}
    shortest = hops.filter(seen["scheme"] == "ecmp")
    assert len(shortest) > 50
    assert (shortest == 3).all(), "the other spine is up"
    assert (hops == 3).mean() > 0.5
    asked = flows.group_by("scheme").agg(pl.col("resolution_ps").max()).rows_by_key("scheme", unique=True)
    assert asked["ecmp"] == (0,)
    assert asked["tcp_path"][0] > 0


def test_the_command_and_the_report_show_both_tables(weft, results):
    text = weft("summary", results.path).output
    assert "Path selection and its overhead" in text
    assert "Impact of events" in text
    data = json.loads(weft("summary", results.path, "--json").output)
    assert {row["scheme"] for row in data["paths"]} == {"ecmp", "arp_path", "tfe", "tcp_path"}
    assert data["events"][0]["event"] == "0.015 s: fail l0-s0"
    page = write(results, None).read_text()
    assert 'id="paths"' in page
    assert 'id="events"' in page
