"""The report's structure; `test_browser` renders it."""

from __future__ import annotations

import json
import re
from html import unescape
from xml.etree import ElementTree

import polars as pl
import pytest

import sample
from tiny import TINY
from weft import OutputError, Results, extracts
from weft.reporting import drawing, page, write
from weft.reporting.findings import findings
from weft.summary import summarise
from weft.topology import Fabric


@pytest.fixture(scope="module")
def html(results):
    return page.render(results)


def block(html, ident):
    match = re.search(rf'<script type="application/json" id="{ident}">(.*?)</script>', html, re.S)
    return json.loads(match[1])


def test_everything_is_in_the_page_and_nothing_is_fetched(html):
    assert "default-src 'none'" in unescape(html)
    own = re.sub(r"<script>.*?</script>", "", html, flags=re.S)
    assert not re.search(r"""(?:src|href)=["'](?!data:)|@import|url\(""", own)
    assert len(html.encode()) < 5_000_000


def test_every_figure_has_its_specification_and_its_data(html):
    for ident in ("completion", "throughput", "curves", "over-time", "queues"):
        spec = block(html, f"{ident}-spec")
        assert spec["$schema"].startswith("https://vega.github.io/schema/vega-lite/v6")
        assert "url" not in json.dumps(spec.get("data", {}))
        assert f'data-spec="{ident}-spec"' in html


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


def test_link_utilisation_is_there_for_every_point_and_scheme(html):
    data = block(html, "page-data")
    assert set(data["use"]) == {"load 0.2", "load 0.4"}
    assert {len(use["utilisation"]) for by in data["use"].values() for use in by.values()} == {96}
    assert len(data["links"]) == 96


def test_a_text_cannot_break_out_of_the_page(tmp_path):
    directory = sample.write_results(tmp_path / "r", {"scheme.name": ["</script><b>"]}, seeds=2, flows=50, samples=4)
    html = page.render(Results(directory))
    assert "</script><b>" not in html
    assert block(html, "page-data")["schemes"] == ["</script><b>"]


def test_one_seed_one_scheme_and_no_series_still_make_a_page(tmp_path):
    directory = sample.write_results(tmp_path / "r", {"scheme.name": ["ecmp"]}, seeds=1, flows=30, samples=1)
    assert "With one seed there is no confidence interval." in page.render(Results(directory))


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
    assert ('id="over-time-spec"' in html) == over_time
    assert 'id="completion-spec"' not in html
    assert 'class="fabric"' in html
    table = weft("summary", results)
    assert table.exit_code == 0
    assert ("transfer" if over_time else "there is nothing to compare") in table.output
    assert weft("plot", results, "--format", "svg").exit_code == 0
    assert {file.stem for file in (results / "figures").iterdir()} == figures


def test_a_sweep_over_two_numbers_and_a_name_has_rows_of_panels(tmp_path):
    sweep = {"scheme.name": ["ecmp", "spray"], "traffic.load": [0.2, 0.3, 0.4], "fabric.queue": ["10 kB", "20 kB"]}
    directory = sample.write_results(tmp_path / "r", sweep, seeds=1, flows=50, samples=4)
    spec = block(page.render(Results(directory)), "completion-spec")
    assert [row["title"]["text"] for row in spec["vconcat"]] == ["queue 10 kB", "queue 20 kB"]
    assert all(row["facet"].keys() == {"column"} for row in spec["vconcat"])


def test_an_axis_is_named_by_the_end_of_its_key_with_what_it_is_a_share_of(html, tmp_path):
    def titles(html):
        return set(re.findall(r'"title": ?"([^"]*)"', json.dumps(block(html, "completion-spec"))))

    assert "load (share of fabric uplinks)" in titles(html)
    directory = sample.write_results(tmp_path / "r", {"traffic.long.flows": [1, 2]}, seeds=1, flows=50, samples=4)
    assert "flows" in titles(page.render(Results(directory)))


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


def test_every_plus_minus_in_the_table_has_the_unit_of_its_value(html):
    table = html.split('id="comparison"')[1].split("</table>")[0]
    cells = re.findall(r"<b>([^<]*)</b><small>±([^<]*)</small>", table)
    assert len(cells) > 100
    assert {unit(value) == unit(half) for value, half in cells} == {True}
    assert {unit(value) for value, _ in cells} >= {"ms", "%", "Mbps", ""}


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
