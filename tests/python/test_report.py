"""The report's structure; `test_browser` renders it."""

from __future__ import annotations

import base64
import json
import math
import re
import shlex
import shutil
import zlib
from html import unescape
from xml.etree import ElementTree

import numpy as np
import polars as pl
import pytest

import sample
from tiny import TINY
from weft import OutputError, Results, drawing, extracts, quantity
from weft import figure as weft_figure
from weft.difference import FEW
from weft.figures.registry import FIGURES
from weft.reporting import details, page, write
from weft.reporting.findings import findings
from weft.statistics import estimate, paired_difference
from weft.summary import summarise
from weft.topology import Fabric

CLASSES = ("mouse", "rabbit", "elephant")


@pytest.fixture(scope="module")
def html(results):
    return page.render(results)


def block(html, ident):
    match = re.search(rf'<script type="application/json" id="{ident}">(.*?)</script>', html, re.S)
    return json.loads(match[1])


def unpacked(html, ident):
    match = re.search(rf'<script type="text/plain" id="{ident}">(.*?)</script>', html, re.S)
    return json.loads(zlib.decompress(base64.b64decode(match[1])))


def test_everything_is_in_the_page_and_nothing_is_fetched(html):
    assert "default-src 'none'" in unescape(html)
    own = re.sub(r"<script>.*?</script>", "", html, flags=re.S)
    assert not re.search(r"""(?:src|href)=["'](?!data:|#)|@import|url\(""", own)
    assert len(html.encode()) < 5_000_000


def test_every_figure_has_its_place_and_its_data(html, results):
    frames = unpacked(html, "frames")
    assert set(frames) == {"intervals", "curves", "delivered", "exceedance", "largest", "sizes"}
    for ident in (*(figure.ident for figure in FIGURES), "pairs", "link-series"):
        assert f'<div class="chart" id="{ident}"' in html
    places = pl.col("point", "scheme", "class").cast(pl.Enum([*results.points, *results.schemes, *CLASSES]))
    curves = extracts.completion_curves(results).sort(places, maintain_order=True)
    assert frames["curves"]["fct_s"] == pytest.approx(curves["fct_s"].to_list(), rel=1e-4)
    assert [results.schemes[at] for at in frames["curves"]["scheme"]] == curves["scheme"].to_list()


def test_the_exact_scenario_versions_seeds_and_transport_are_shown(html):
    assert "# exact text, &lt;kept&gt; &amp; &quot;quoted&quot;" in html
    for text in ("<td>1, 2, 3</td>", "<td>0.1.0</td>", "initial_window", "<td>200 ms</td>", "18 of 18"):
        assert text in html


def test_the_copied_table_has_raw_numbers(html, results):
    lines = block(html, "tsv").strip().split("\n")
    head = lines[0].split("\t")
    assert len(lines) == 1 + 18
    assert head[:3] == ["traffic_load", "class", "scheme"]
    assert float(lines[1].split("\t")[head.index("mean_fct_s")]) == pytest.approx(
        results.summary()["mean_fct_s"][0], rel=1e-9
    )


def test_link_utilisation_is_there_for_every_point_and_scheme(html, results):
    data = block(html, "page-data")
    assert len(data["links"]) == 96
    assert data["parts"]["use"] == [0, 1]
    known = {(p, s, a, b): u for p, s, a, b, u, *_ in extracts.link_use(results).iter_rows()}
    for at, point in enumerate(data["points"]):
        use = unpacked(html, f"use-{at}")["schemes"]
        assert list(use) == results.schemes
        for scheme, own in use.items():
            ends = [tuple(link.split(" → ")) for link in data["links"]]
            found = [value / 1000 for value in own["utilisation"]]
            assert found == pytest.approx([known[point, scheme, a, b] for a, b in ends], abs=5.1e-4)


WINDOW = [("utilisation", "utilisation", 1000), ("drops", "drops", 10), ("queue", "max_queue_bytes", 1)]


def width_of(coarse):
    """The half-width of an interval from its whole number in the page."""
    return coarse if coarse <= 20 else 20 * math.exp(coarse / 20 - 1)


def close(half):
    """A half-width that is whole up to 20 and exact to one part in 40 above."""
    return pytest.approx(half, abs=0.51, rel=0.0255)


def values_by_seed(results, point, column):
    """Values of a column of links by scheme and link: a dictionary by seed."""
    found = {}
    for row in results.links().filter(pl.col("point") == point).iter_rows(named=True):
        found.setdefault((row["scheme"], f"{row['from']} → {row['to']}"), {})[row["seed"]] = row[column]
    return found


def test_values_of_links_are_means_over_seeds_with_their_intervals(html, results):
    data, part = block(html, "page-data"), unpacked(html, "use-1")
    for name, column, scale in WINDOW:
        known = values_by_seed(results, data["points"][1], column)
        for scheme, own in part["schemes"].items():
            for link, value, half in zip(data["links"], own[name], own["half"][name], strict=True):
                of_link = estimate(known[scheme, link].values()).scaled(scale)
                assert value == pytest.approx(of_link.mean, abs=0.51)
                assert width_of(half) == close(of_link.half)


def test_differences_of_links_have_intervals_paired_by_seed_and_keep_their_signs(html, results):
    data, part = block(html, "page-data"), unpacked(html, "use-1")
    assert [pair[:2] for pair in part["pairs"]] == [[0, 1], [0, 2], [1, 2]]
    for name, column, scale in (WINDOW[0], WINDOW[2]):
        known = values_by_seed(results, data["points"][1], column)
        for i, j, halves in part["pairs"]:
            first, second = (part["schemes"][results.schemes[at]][name] for at in (i, j))
            for at, (link, half) in enumerate(zip(data["links"], halves[name], strict=True)):
                one, two = (known[results.schemes[place], link] for place in (i, j))
                paired = paired_difference(one, two).scaled(scale)
                change = first[at] - second[at] + halves["more"].get(name, {}).get(str(at), 0)
                assert change == pytest.approx(paired.mean, abs=1.01)
                # Up to one step more than rounding alone, where the significance depends on it.
                assert width_of(half) == pytest.approx(paired.half, abs=1.01, rel=0.051)
                assert (abs(change) > width_of(half)) == bool(paired.excludes_zero)


def test_intervals_of_differences_are_left_out_where_they_would_be_too_many(results, monkeypatch):
    monkeypatch.setattr(details, "_PAIR_CELLS", 3 * 96 * 2 * 2 - 1)
    use = unpacked(page.render(results), "use-0")
    assert use["pairs"] == []
    assert use["schemes"]["ecmp"]["half"]


def test_schemes_with_different_seeds_are_not_paired(own_dir):
    shutil.rmtree(Results(own_dir).finished[-1].path)
    html = page.render(Results(own_dir))
    assert [pair[:2] for pair in unpacked(html, "use-0")["pairs"]] == [[0, 1], [0, 2], [1, 2]]
    assert [pair[:2] for pair in unpacked(html, "use-1")["pairs"]] == [[0, 1]]
    assert unpacked(html, "use-1")["schemes"]["spray"]["half"]


def test_the_series_of_a_link_is_that_of_the_samples(html, results):
    series = unpacked(html, "series-1")
    links = block(html, "page-data")["links"]
    at, steps = links.index("e0 → a0"), len(series["utilisation"]["spray"]) // len(links)
    rows = results.series("link_utilisation", "queue_bytes").filter(
        (pl.col("point") == "load 0.4") & (pl.col("scheme") == "spray") & (pl.col("entity") == "e0->a0")
    )
    assert steps * series["step"] == pytest.approx(1.0)
    for metric, name, unit in (("link_utilisation", "utilisation", 1e-3), ("queue_bytes", "queue", series["unit"])):
        found = [value * unit for value in series[name]["spray"][at :: len(links)]]
        own = rows.filter(pl.col("metric") == metric)
        times = [round((step + 1) * series["step"] * 1e12) for step in range(steps)]
        sums = dict(own.group_by("time_ps").agg(pl.col("value").sum()).iter_rows())
        assert found == pytest.approx([sums.get(time, 0) / 3 for time in times], abs=unit * 0.51)
        halves = series["half"][name]["spray"][at :: len(links)]
        for time, half in zip(times, halves, strict=True):
            each = own.filter(pl.col("time_ps") == time)["value"].to_list()
            assert width_of(half) == close(estimate([*each, *[0.0] * (3 - len(each))]).half / unit)
        assert max(halves) > 20


def test_flows_are_compared_with_themselves_under_another_scheme(html, results):
    part = unpacked(html, "flows-0")
    flows = results.flows().filter(pl.col("point") == "load 0.2")
    wide = flows.pivot("scheme", index=["seed", "flow", "class"], values="fct_s")
    known = {(seed, flow): row for seed, flow, *row in wide.select("seed", "flow", *part["schemes"]).iter_rows()}
    assert part["total"] == len(wide)
    for i, place in enumerate(zip(part["seed"], part["flow"], strict=True)):
        for row, value in zip(part["fct"], known[place], strict=True):
            unpacked_s = (
                None if row[i] == 0 else part["low"] * 2.718281828459045 ** ((row[i] - 1) / 64999 * part["span"])
            )
            assert unpacked_s == (None if value is None else pytest.approx(value, rel=2e-4))
    for i, j, (*_, pooled) in part["pairs"]:
        one, other = (wide[part["schemes"][at]] for at in (i, j))
        faster, slower, equal, only_first, only_second, *ratio = pooled
        assert (faster, slower, equal) == ((one < other).sum(), (one > other).sum(), (one == other).sum())
        assert (only_first, only_second) == (0, 0)
        logs = wide.with_columns((one / other).log().alias("log")).group_by("seed").agg(pl.col("log").mean())["log"]
        assert ratio[0] == pytest.approx(logs.mean(), abs=1e-5)
        assert ratio[1] < ratio[0] < ratio[2]


def test_the_slowest_flows_are_those_with_the_largest_slowdown(html, results):
    rows = pl.DataFrame(unpacked(html, "flows-1")["slowest"]).filter(
        (pl.col("scheme") == "ecmp") & (pl.col("class") == "rabbit")
    )
    flows = results.flows().filter(
        (pl.col("point") == "load 0.4") & (pl.col("scheme") == "ecmp") & (pl.col("class") == "rabbit")
    )
    unfinished = flows["fct_s"].null_count()
    assert rows["fct_s"].null_count() == min(unfinished, 3)
    slow = flows.drop_nulls("fct_s").sort("slowdown", descending=True).head(10)
    shown = rows.drop_nulls("fct_s")
    assert shown.select("seed", "flow", "src", "dst", "bytes").equals(
        slow.select("seed", "flow", "src", "dst", "bytes")
    )


def test_a_page_of_many_points_leaves_out_parts_and_counts_them(tmp_path, monkeypatch):
    monkeypatch.setattr(details, "_SERIES_CELLS", 4 * 96 * 2 * 10)
    sweep = {"scheme.name": ["ecmp", "spray"], "traffic.load": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]}
    directory = sample.write_results(tmp_path / "r", sweep, seeds=1, flows=40, samples=40)
    html = page.render(Results(directory))
    assert block(html, "page-data")["parts"]["series"] == [0, 2, 4, 6]
    assert len(unpacked(html, "series-2")["utilisation"]["ecmp"]) == 96 * 10


EXPLORING = TINY.replace('["ecmp", "spray"]', '["ecmp", "tcp_path"]')


def test_the_command_for_a_flow_makes_the_page_that_the_next_report_links(weft, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.toml").write_text(EXPLORING)
    assert weft("run", "own.toml", "-o", "some results", "--set", "run.seeds=1").exit_code == 0
    html = page.render(Results("some results"))
    trails = block(html, "page-data")["trails"]
    rows = pl.DataFrame(unpacked(html, "flows-0")["slowest"]).filter(pl.col("scheme") == "tcp_path", pl.col("explored"))
    run, flow, seed = rows.select("run", "flow", "seed").row(0)
    name = f"explore-{run}-{flow}.html"
    command = f"{trails['command']} --flow {flow} --seed {seed} {trails['sets']['0,1']} -o {trails['folder']}{name}"
    assert trails["explores"] == [False, True]
    assert trails["pages"] == []
    made = weft(*shlex.split(command)[1:])
    assert made.exit_code == 0, made.output
    assert f"flow {flow} of" in made.output
    assert block(page.render(Results("some results")), "page-data")["trails"]["pages"] == [name]


def test_a_text_cannot_break_out_of_the_page(tmp_path):
    directory = sample.write_results(tmp_path / "r", {"scheme.name": ["</script><b>"]}, seeds=2, flows=50, samples=4)
    html = page.render(Results(directory))
    assert "</script><b>" not in html
    assert [scheme["name"] for scheme in block(html, "page-data")["schemes"]] == ["</script><b>"]


def test_one_seed_one_scheme_and_no_series_still_make_a_page(tmp_path):
    directory = sample.write_results(tmp_path / "r", {"scheme.name": ["ecmp"]}, seeds=1, flows=30, samples=1)
    assert "With one seed there is no confidence interval." in page.render(Results(directory))


def test_one_seed_has_no_interval_in_the_drawing(tmp_path):
    sweep = {"scheme.name": ["ecmp", "spray"]}
    html = page.render(Results(sample.write_results(tmp_path / "r", sweep, seeds=1, flows=30, samples=5)))
    use, series = unpacked(html, "use-0"), unpacked(html, "series-0")
    assert [list(own) for own in use["schemes"].values()] == [["utilisation", "drops", "queue"]] * 2
    assert use["pairs"] == []
    assert series["half"] == {"utilisation": {}, "queue": {}}


UNENDED = f"""{TINY.partition("[traffic]")[0]}
[[traffic]]
class = "transfer"
sizes = {{ fixed = "1 TB" }}
arrivals = "at-once"
start = "START"
flows = 1
pairs = [["h0", "h2"]]

[scheme]
name = "ecmp"

[run]
duration = "1 s"
limit = "1 s"
"""


SHORT = f"""{TINY.partition("[traffic]")[0]}
[traffic]
collective = "all-gather"
bytes = "30 kB"

[scheme]
name = "ecmp"

[run]
duration = "DURATION"

[measure]
"""


def test_utilisation_in_a_window_longer_than_all_runs_is_over_the_time_of_the_runs(weft, tmp_path):
    scenario, shares = tmp_path / "ended.toml", {}
    text = SHORT.replace("DURATION", "100 ms")
    for window in ("100 ms", "10 s"):
        scenario.write_text(text.replace("100 ms", window) + 'interval = "20 us"\n')
        assert weft("run", scenario, "-o", tmp_path / window).exit_code == 0
        html = page.render(Results(tmp_path / window))
        assert "before the end of the measurement window: utilisation is over the time until then." in html
        shares[window] = unpacked(html, "use-0")["schemes"]["ecmp"]["utilisation"]
        (head,) = Results(tmp_path / window).heads().values()
        series = unpacked(html, "series-0")
        steps = len(series["utilisation"]["ecmp"]) / len(shares[window])
        assert head["simulated_ps"] / 1e12 <= series["step"] * steps < head["simulated_ps"] / 1e12 + series["step"]
        # Samples of ports while the run lasted, not while the window does.
        assert max(unpacked(html, "frames")["exceedance"]["share"]) > 0.01
    assert shares["100 ms"] == shares["10 s"] and max(shares["10 s"]) > 300
    drawn = weft_figure(tmp_path / "10 s", "fabric").svg
    assert f"until the last run ended ({quantity.seconds(head['simulated_ps'] / 1e12)})" in drawn and "50 %" in drawn


def test_utilisation_in_a_window_within_the_run_is_over_the_window(weft, tmp_path):
    scenario = tmp_path / "ended.toml"
    scenario.write_text(SHORT.replace("DURATION", "100 ms") + 'window = ["0 s", "10 us"]\n')
    assert weft("run", scenario, "-o", tmp_path / "results").exit_code == 0
    html = page.render(Results(tmp_path / "results"))
    assert "before the end of the measurement window" not in html
    assert "link utilisation in the measurement window" in weft_figure(tmp_path / "results", "fabric").svg


@pytest.mark.parametrize(
    ("sweep", "who"), [("", "The run"), ('[sweep]\n"scheme.name" = ["ecmp", "spray"]\n', "All runs")]
)
def test_runs_that_end_before_their_first_sample_say_so_and_name_an_interval(weft, tmp_path, sweep, who):
    scenario, results = tmp_path / "ended.toml", tmp_path / "results"
    scenario.write_text(SHORT.replace("DURATION", "10 s") + sweep)
    assert weft("run", scenario, "-o", results).exit_code == 0
    html = page.render(Results(results))
    why = block(html, "page-data")["unsampled"]
    assert re.fullmatch(
        rf"{who} ended after [^,]+ µs, before the first sample at 100 ms: set measure.interval to a shorter time, such "
        r'as "\d+ us", and run the scenario again\.',
        why,
    ), why
    assert unescape(html).count(f"<p>{why}</p>") == 2
    assert "No flow started" not in html and "All sampled queues" not in html
    for name in ("queues", "throughput-time"):
        with pytest.raises(OutputError, match="before the first sample at 100 ms: set"):
            weft_figure(results, name)
    interval = re.search(r'"(.*?)"', why)[1]
    again = weft("run", scenario, "-o", tmp_path / "again", "--set", f'measure.interval="{interval}"')
    assert again.exit_code == 0
    html = page.render(Results(tmp_path / "again"))
    assert block(html, "page-data")["unsampled"] == ""
    assert {"delivered", "largest", "exceedance"} <= set(unpacked(html, "frames"))


@pytest.mark.parametrize(
    ("start", "said", "over_time", "figures"),
    [
        ("0 s", "No flow finished.", True, {"throughput-time", "out-of-order", "fabric", "queues"}),
        ("2 s", "No flow started in the measurement window.", False, {"fabric", "queues"}),
    ],
)
def test_what_no_flow_has_is_said_and_not_drawn(weft, tmp_path, start, said, over_time, figures):
    scenario, results = tmp_path / "unended.toml", tmp_path / "results"
    scenario.write_text(UNENDED.replace("START", start))
    assert weft("run", scenario, "-o", results).exit_code == 0
    made = weft("report", results)
    assert made.exit_code == 0, made.output
    html = (results / "report.html").read_text()
    assert f"<p>{said}</p>" in html
    assert ('id="over-time"' in html) == over_time
    assert 'id="completion"' not in html
    assert 'class="fabric"' in html
    table = weft("summary", results)
    assert table.exit_code == 0
    assert ("transfer" if over_time else "there is nothing to compare") in table.output
    assert weft("plot", results, "--format", "svg").exit_code == 0
    assert {file.stem for file in (results / "figures").iterdir()} == figures


def test_every_key_of_the_sweep_can_be_chosen(tmp_path):
    sweep = {"scheme.name": ["ecmp", "spray"], "traffic.load": [0.2, 0.3, 0.4], "fabric.queue": ["10 kB", "20 kB"]}
    directory = sample.write_results(tmp_path / "r", sweep, seeds=1, flows=50, samples=4)
    html = page.render(Results(directory))
    data = block(html, "page-data")
    assert data["keys"] == ["load", "queue"]
    assert data["axis"] == 0
    assert data["values"] == [[load, queue] for load in (0.2, 0.3, 0.4) for queue in ("10 kB", "20 kB")]
    assert re.findall(r'<label>(\w+) <select id="key-(\d)">', html) == [("load", "0"), ("queue", "1")]


def test_an_axis_is_named_by_the_end_of_its_key_with_what_it_is_a_share_of(html, tmp_path):
    assert block(html, "page-data")["axisTitle"] == "load (share of fabric uplinks)"
    directory = sample.write_results(tmp_path / "r", {"traffic.long.flows": [1, 2]}, seeds=1, flows=50, samples=4)
    assert block(page.render(Results(directory)), "page-data")["axisTitle"] == "flows"


def test_what_differs_between_runs_is_given_as_a_range(html, tmp_path):
    assert "1.10 s to 1.30 s simulated per run" in html
    assert "<tr><th>Flows per run</th><td>400</td></tr>" in html
    assert "<tr><th>Offered load</th><td>19.6 % to 39.2 % of fabric-uplinks</td></tr>" in html


def test_time_series_end_with_the_measurement_window_unless_most_comes_after_it(tmp_path):
    directory = sample.write_results(tmp_path / "r", {"scheme.name": ["ecmp"]}, seeds=2, flows=50, samples=20)
    for end, last in ((600, 0.575), (100, 0.975)):
        for path in directory.glob("runs/*/summary.json"):
            path.write_text(json.dumps(json.loads(path.read_text()) | {"window_ps": [0, end * 10**9]}))
        results = Results(directory)
        for frame in (extracts.throughput_over_time(results), extracts.largest_queue(results)):
            assert frame["time_s"].max() == pytest.approx(last), end


def test_time_series_have_the_interval_over_seeds_and_idle_runs_count_as_zero(tmp_path):
    directory = sample.write_results(tmp_path / "r", {"scheme.name": ["ecmp"]}, seeds=3, flows=50, samples=20)
    idle, *_ = directory.glob("runs/*")
    series = pl.read_parquet(idle / "series.parquet")
    series.filter(pl.col("metric") != "throughput_bps").write_parquet(idle / "series.parquet")
    results = Results(directory)
    samples = pl.concat(
        pl.read_parquet(run / "series.parquet").with_columns(run=pl.lit(run.name)) for run in directory.glob("runs/*")
    )
    table = extracts.throughput_over_time(results).filter(pl.col("class") == "all")
    for row in table.iter_rows(named=True):
        at = (pl.col("metric") == "throughput_bps") & (pl.col("time_ps") == round(row["time_s"] * 1e12 + 25e9))
        each = samples.filter(at).group_by("run").agg(pl.col("value").sum())["value"].to_list()
        known = estimate([*each, *[0.0] * (3 - len(each))])
        assert (row["bps"], row["half"]) == pytest.approx((known.mean, known.half))
    assert table["half"].max() > 0


def test_one_seed_has_no_interval_in_time_series(tmp_path):
    directory = sample.write_results(tmp_path / "r", {"scheme.name": ["ecmp"]}, seeds=1, flows=50, samples=20)
    for frame in (extracts.throughput_over_time(Results(directory)), extracts.largest_queue(Results(directory))):
        assert set(frame["half"]) == {None}


def test_every_plus_minus_in_the_table_has_the_unit_of_its_value(html):
    table = html.split('id="comparison"')[1].split("</table>")[0]
    cells = re.findall(r"<b>([^<]*)</b><small>±([^<]*)</small>", table)
    assert len(cells) > 100
    assert {unit(value.rstrip(FEW)) == unit(half) for value, half in cells} == {True}
    assert {unit(value.rstrip(FEW)) for value, _ in cells} >= {"ms", "%", "Mbps", ""}


def unit(text):
    return text.partition(" ")[2]


def test_differences_of_shares_are_points_in_the_table_and_over_it(html):
    table = html.split('id="comparison"')[1].split("</table>")[0]
    assert re.search(r'title="95 % interval: \+[\d.]+ points to \+[\d.]+ points">\+[\d.]+ points<', table)


def test_queue_occupancy_is_of_the_samples_in_the_window_however_long_the_run(tmp_path):
    directory = sample.write_results(tmp_path / "r", {"scheme.name": ["ecmp"]}, seeds=1, flows=50, samples=20)
    shares = extracts.queue_exceedance(Results(directory))["share"]
    (run,) = directory.glob("runs/*")
    series = pl.read_parquet(run / "series.parquet")
    # After the window: a straggler's minute in which every queue but one is empty.
    late = series.filter(pl.col("metric") == "active_flows").tail(1)
    idle = [late.with_columns(pl.lit(10**12 + t * 10**11).alias("time_ps")) for t in range(1, 600)]
    full = series.filter(pl.col("metric") == "queue_bytes").tail(1).with_columns(pl.lit(2 * 10**12).alias("time_ps"))
    pl.concat([series, *idle, full]).write_parquet(run / "series.parquet")
    assert extracts.queue_exceedance(Results(directory))["share"].equals(shares)
    within = series.filter((pl.col("metric") == "queue_bytes") & (pl.col("time_ps") > 10**11))
    # Eighteen of the twenty samples are after the start of the window, of the 80 links that leave switches.
    assert shares[0] == pytest.approx(len(within) / (18 * 80))


def test_the_table_has_the_marks_of_the_schemes(html):
    table = html.split('id="comparison"')[1].split("</table>")[0]
    marks = dict(re.findall(r'<path d="([^"]+)" fill="(#\w+)"', table))
    assert len(marks) == 3
    assert all(path in html.split('class="legend"')[1].split("</div>")[0] for path in marks)


def test_a_page_that_cannot_be_written_leaves_the_old_one(results, tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("old")
    monkeypatch.setattr("os.fdopen", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(OutputError, match=r"report\.html cannot be written: No space left"):
        write(results, path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_findings_say_only_what_the_interval_supports(results):
    found = findings(summarise(results, baseline="ecmp"))
    assert found
    assert {f.scheme for f in found} <= {"single_path", "spray"}
    assert all(f.good == (f.scheme == "spray") for f in found)
    assert re.search(r" % higher than with ecmp at load 0\.4 \(95 % interval: [\d.]+ % to [\d.]+ %\)$", found[0].text)
    assert findings(summarise(results)) == []


def fabric(k):
    nodes, cables = sample.fat_tree(k)
    links = [{"from": x, "to": y, "rate_bps": 1e9, "up": True} for a, b in cables for x, y in ((a, b), (b, a))]
    return Fabric.from_json({"name": f"k={k} <&>", "nodes": nodes, "links": links})


def test_the_drawing_is_valid_svg_with_each_direction_of_each_cable():
    graph = fabric(4)
    svg = ElementTree.fromstring(drawing.draw(graph, [0.5] * len(graph.links)))
    lines = svg.findall(".//{*}line")
    assert len(lines) == 96
    assert {line.get("class") for line in lines} == {"l u10"}
    assert lines[0].find("{*}title").text == "h0 → e0: 1.00 Gbps, 0 ns, 50.0 % used"
    assert len({(line.get("x1"), line.get("y1"), line.get("x2"), line.get("y2")) for line in lines}) == 96
    core, host = (next(t for t in svg.iter("{http://www.w3.org/2000/svg}text") if t.text == n) for n in ("c0", "h0"))
    assert float(core.get("y")) < float(host.get("y"))


@pytest.mark.parametrize(("k", "every", "upright"), [(4, 1, False), (6, 1, True), (8, 2, True)])
def test_the_names_of_hosts_are_drawn_for_all_or_at_equal_distances_and_those_of_switches_for_all(k, every, upright):
    graph = fabric(k)
    svg = ElementTree.fromstring(drawing.draw(graph))
    texts = list(svg.iter("{http://www.w3.org/2000/svg}text"))
    hosts = [text for text in texts if text.get("class") == "small"]
    assert [text.text for text in hosts] == [f"h{at}" for at in range(0, k**3 // 4, every)]
    assert {"rotate(-90)" in (text.get("transform") or "") for text in hosts} == {upright}
    assert {node.name for node in graph.switches} <= {text.text for text in texts}


def test_the_colour_scale_ends_near_the_largest_use():
    assert [drawing.full(use) for use in ([], [0.011], [0.03, 0.21], [0.5], [0.9])] == [1, 0.02, 0.5, 0.5, 1]
    graph = fabric(4)
    shown = drawing.draw(graph, [0.04] * len(graph.links), end=0.05)
    assert 'class="l u16"' in shown and 'class="l u1"' not in shown


def test_a_large_fabric_is_drawn_without_its_hosts():
    graph = fabric(12)
    svg = ElementTree.fromstring(drawing.draw(graph))
    assert len(svg.findall(".//{*}line")) == len(drawing.drawn_links(graph)) == 2 * 2 * 432
    assert not svg.findall(".//{*}circle")


def test_the_colour_scale_runs_from_pale_to_dark():
    def light(color):
        return sum(int(color[i : i + 2], 16) for i in (1, 3, 5))

    shades = [light(drawing.shade(i / 20)) for i in range(21)]
    assert shades == sorted(shades, reverse=True)
    assert drawing.step(-1) == 0
    assert drawing.step(7) == drawing.STEPS


def test_coarse_half_widths_keep_the_significance_of_differences():
    draw = np.random.default_rng(1)
    one, two = (draw.integers(0, 300, 20_000) for _ in range(2))
    change = one - two + draw.uniform(-1, 1, len(one))
    half = np.abs(change) * draw.choice([0, 0.5, 0.99, 0.999, 1.001, 1.01, 2], len(one))
    whole = details._not_zero(one - two, change, half)
    widths = details._width(np.array(details._coarse_beside(whole, np.abs(change) > half, half)))
    significant = np.abs(change) > half
    assert (np.sign(whole[significant]) == np.sign(change[significant])).all()
    assert ((np.abs(whole) - widths > 0.05) == significant).all()
    assert (np.abs(widths - half) <= 2 + 0.06 * half).all()
