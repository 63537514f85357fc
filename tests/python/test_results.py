"""Result directories as data frames, and the summary over seeds."""

from __future__ import annotations

import json
import math

import numpy as np
import polars as pl
import pytest
from scipy import stats

import sample
from weft import Results, ResultsError, Scenario
from weft.content import Content
from weft.labels import short_key, show
from weft.metrics import METRICS
from weft.samples import QUANTILE, quantile
from weft.summary import summarise


def test_flows_are_those_in_the_measurement_window(results):
    flows = results.flows()
    assert flows["measured"].all()
    assert len(flows) < len(results.flows(measured=False)) == 18 * 400
    assert set(flows["scheme"]) == {"single_path", "ecmp", "spray"}
    assert flows.schema["class"] == pl.String
    first = flows.row(0, named=True)
    assert first["throughput_bps"] == pytest.approx(first["bytes"] * 8 / (first["fct_ps"] / 1e12))
    assert first["slowdown"] == pytest.approx(first["fct_ps"] / first["ideal_fct_ps"])


def test_series_can_be_narrowed_to_metrics(results):
    series = results.series("throughput_bps")
    assert set(series["metric"]) == {"throughput_bps"}
    assert series["time_s"].max() == pytest.approx(1.0)


def rabbits(scheme, seed):
    """The sample's measured flows of this class at load 0.4."""
    flows = sample.flow_table(scheme, 0.4, seed, 400, 16)
    return flows.filter(pl.col("measured") & (pl.col("class").cast(pl.String) == "rabbit"))


def row_of_rabbits(results, scheme):
    """Their row, compared with ecmp."""
    summary = results.summary(baseline="ecmp").filter((pl.col("traffic_load") == 0.4) & (pl.col("class") == "rabbit"))
    return summary.filter(pl.col("scheme") == scheme).row(0, named=True)


def test_the_summary_is_the_t_interval_over_the_values_of_each_seed(results):
    row = row_of_rabbits(results, "spray")
    values = {"spray": [], "ecmp": []}
    for scheme in values:
        for seed in (1, 2, 3):
            flows = rabbits(scheme, seed)
            fct = (flows["fct_ps"].drop_nulls() / 1e12).to_numpy()
            ooo = flows["out_of_order"].sum() / flows["first_transmissions_received"].sum()
            values[scheme].append((fct.mean(), np.quantile(fct, 0.99), ooo))
    spray, ecmp = np.array(values["spray"]), np.array(values["ecmp"])
    for i, metric in enumerate(("mean_fct_s", "p99_fct_s", "out_of_order_share")):
        low, high = stats.t.interval(0.95, 2, loc=spray[:, i].mean(), scale=stats.sem(spray[:, i]))
        got = (row[metric], row[f"{metric}_low"], row[f"{metric}_high"])
        assert got == pytest.approx((spray[:, i].mean(), low, high))
    difference = stats.ttest_rel(spray[:, 0], ecmp[:, 0]).confidence_interval(0.95)
    got = (row["mean_fct_s_diff_low"], row["mean_fct_s_diff_high"])
    assert got == pytest.approx((difference.low, difference.high))


def test_the_ratio_to_the_baseline_is_the_t_interval_of_the_logarithms(results):
    row = row_of_rabbits(results, "spray")
    means = [[rabbits(scheme, seed)["fct_ps"].mean() for scheme in ("spray", "ecmp")] for seed in (1, 2, 3)]
    logs = [math.log(spray / ecmp) for spray, ecmp in means]
    low, high = stats.t.interval(0.95, 2, loc=np.mean(logs), scale=stats.sem(logs))
    got = [row[f"mean_fct_s_ratio{end}"] for end in ("", "_low", "_high")]
    assert got == pytest.approx([math.exp(value) for value in (np.mean(logs), low, high)])


def test_quantiles_of_a_runs_own_summary_and_of_the_table_are_the_same(engine_results):
    for (scheme, seed), flows in engine_results.flows().group_by("scheme", "seed"):
        run = next(r for r in engine_results.finished if (r.scheme, r.seed) == (scheme, seed))
        (own,) = engine_results.summaries([run])
        for kind, known in own["classes"].items():
            fct = flows.filter(pl.col("class") == kind)["fct_s"].drop_nulls()
            for key, share in (("median_fct_s", 0.5), ("p99_fct_s", 0.99), ("p999_fct_s", 0.999)):
                expected = [fct.quantile(share, interpolation=QUANTILE), quantile(fct.to_list(), share)]
                assert expected == pytest.approx([known[key]] * 2, rel=1e-12), (scheme, seed, kind, key)


def test_series_of_the_window_are_those_after_its_start_up_to_its_end(results):
    times = results.series("active_flows", measured=True)["time_ps"]
    # Fifty samples, 20 ms apart; the window is from 0.1 s to 1 s.
    assert (times.min(), times.max()) == (120_000_000_000, 1_000_000_000_000)


def test_one_seed_has_no_interval(tmp_path):
    directory = sample.write_results(tmp_path / "one", {"scheme.name": ["ecmp"]}, seeds=1, flows=60, samples=4)
    row = Results(directory).summary().row(0, named=True)
    assert row["mean_fct_s"] > 0
    assert row["mean_fct_s_low"] is None
    assert row["mean_fct_s_high"] is None
    json.dumps(summarise(Results(directory)).as_dict(), allow_nan=False)


def test_flows_that_did_not_finish_are_counted_and_not_averaged(results):
    table = summarise(results)
    assert sum(row.flows - row.finished for row in table.rows) == 18
    assert all(math.isfinite(row.estimates[m.key].mean) for row in table.rows for m in METRICS)


def test_rows_are_in_the_order_of_the_sweep_and_classes_by_size(results):
    groups = [(row.group["class"], row.group["scheme"]) for row in summarise(results).rows]
    assert groups[:4] == [("mouse", "single_path"), ("mouse", "ecmp"), ("mouse", "spray"), ("rabbit", "single_path")]


def test_the_short_name_of_a_swept_key_groups(results):
    assert results.summary(by=["load", "scheme"]).columns[:2] == ["traffic_load", "scheme"]
    with pytest.raises(ResultsError, match=r"cannot group by `size`.*traffic\.load, scheme"):
        results.summary(by=["size"])


def test_the_baseline_must_be_one_of_the_schemes(results):
    with pytest.raises(ResultsError, match=r"no scheme `conga`.*single_path, ecmp, spray"):
        results.summary(baseline="conga")


def test_parameters_of_a_scheme_that_the_sweep_varies_are_part_of_its_name(tmp_path):
    sweep = {"scheme.name": ["spray"], "scheme.gap": ["50 us", "100 us"], "fabric.queue": ["10 packets"]}
    found = Results(sample.write_results(tmp_path / "r", sweep, seeds=2, flows=50, samples=4))
    assert found.schemes == ["spray gap=50 us", "spray gap=100 us"]
    assert found.points == ["queue 10 packets"]
    assert found.summary().columns[:3] == ["fabric_queue", "class", "scheme"]


@pytest.mark.parametrize(
    ("keys", "short"),
    [
        (["traffic.load", "fabric.k"], ["load", "k"]),
        (["traffic.long.flows", "traffic.short.flows"], ["long.flows", "short.flows"]),
        (["a.b", "c.a.b"], ["a.b", "c.a.b"]),
    ],
)
def test_swept_keys_are_shortened_as_far_as_they_stay_different(keys, short):
    assert [short_key(key, keys) for key in keys] == short


def test_a_sweep_without_schemes_takes_the_name_from_the_runs(tmp_path):
    found = Results(sample.write_results(tmp_path / "r", {"traffic.load": [0.1, 0.2]}, seeds=1, flows=50, samples=4))
    assert found.schemes == ["ecmp"]


@pytest.mark.parametrize(
    ("sweep", "compared", "dimensions"),
    [
        ({"transport.profile": ["linux", "dctcp"], "traffic.load": [0.2, 0.4]}, "transport.profile", ["traffic.load"]),
        ({"traffic.load": [0.2, 0.4], "fabric.queue": ["9 packets", "99 packets"]}, "fabric.queue", ["traffic.load"]),
        (
            {"traffic.load": [0.2, 0.4], "traffic.sizes": ["web-search", "data-mining"]},
            "traffic.sizes",
            ["traffic.load"],
        ),
        ({"run.duration": ["1 s", "2 s"], "transport.profile": ["a", "b"]}, "transport.profile", ["run.duration"]),
        ({"traffic.load": [0.2, 0.4]}, None, ["traffic.load"]),
        ({"fabric.queue": ["9 packets"], "traffic.load": [0.2, 0.4]}, None, ["fabric.queue", "traffic.load"]),
        ({"scheme.name": ["ecmp", "spray"], "transport.profile": ["a", "b"]}, None, ["transport.profile"]),
    ],
)
def test_a_sweep_over_two_keys_with_one_scheme_compares_one_of_them(tmp_path, sweep, compared, dimensions):
    found = Results(sample.write_results(tmp_path / "r", sweep, seeds=1, flows=50, samples=4))
    assert (found.compared, found.dimensions) == (compared, dimensions)
    assert set(found.keys) == {key for key in sweep if key != "scheme.name"}
    if compared is not None:
        name = compared.partition(".")[2]
        assert found.schemes == [f"ecmp {name}={value}" for value in sweep[compared]]
        assert len(found.points) == 2
        # Its column stays, and can be grouped by.
        assert found.flows()[compared.replace(".", "_")].unique().sort().to_list() == sorted(sweep[compared])
        assert {row.group[compared] for row in summarise(found, by=[name]).rows} == set(sweep[compared])


def test_values_that_are_compared_are_compared_in_pairs(tmp_path):
    sweep = {"transport.profile": ["linux", "dctcp"], "traffic.load": [0.2, 0.4]}
    found = Results(sample.write_results(tmp_path / "r", sweep, baseline="ecmp", flows=50, samples=4))
    assert found.baseline == "ecmp profile=linux"
    rows = summarise(found).rows
    compared = {row.group["scheme"] for row in rows if row.differences}
    assert compared == {"ecmp profile=dctcp"}
    assert {row.group["traffic.load"] for row in rows} == {0.2, 0.4}
    for name in ("ecmp profile=dctcp", "profile=dctcp", "dctcp"):
        assert summarise(found, baseline=name).baseline == "ecmp profile=dctcp"
    with pytest.raises(ResultsError, match="no scheme `reno`"):
        summarise(found, baseline="reno")


def test_a_part_of_a_value_is_no_baseline(tmp_path):
    sweep = {"fabric.queue": ["100 packets", "1 MB"], "traffic.load": [0.2, 0.4]}
    found = Results(sample.write_results(tmp_path / "r", sweep, seeds=1, flows=50, samples=4))
    assert summarise(found, baseline="1 MB").baseline == "ecmp queue=1 MB"
    with pytest.raises(ResultsError, match="no scheme `MB`"):
        summarise(found, baseline="MB")


def test_runs_that_have_not_finished_are_left_out(tmp_path):
    found = Results(sample.write_results(tmp_path / "r", missing=5, seeds=2, flows=50, samples=4))
    assert (len(found.runs), len(found.finished)) == (12, 7)
    assert len(found.flows(measured=False)) == 7 * 50


def test_what_is_no_result_directory_is_refused_with_what_to_give(tmp_path):
    with pytest.raises(ResultsError, match="does not exist: give the directory"):
        Results(tmp_path / "none")
    with pytest.raises(ResultsError, match=r"no sweep\.json"):
        Results(tmp_path)
    (tmp_path / "sweep.json").write_text("{")
    with pytest.raises(ResultsError, match="not valid JSON"):
        Results(tmp_path)
    (tmp_path / "sweep.json").write_text('{"runs": []}')
    with pytest.raises(ResultsError, match="no finished run"):
        Results(tmp_path).flows()


def test_frames_convert_to_pandas(results):
    pandas = pytest.importorskip("pandas")
    frame = results.summary().to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert len(frame) == 18


def test_no_column_has_a_dot_which_sql_would_take_for_a_field_within_a_field(results):
    for frame in (results.flows(), results.series(), results.links(), results.summary()):
        assert not [name for name in frame.columns if "." in name]
    assert "traffic_load" in results.flows().columns


def test_a_fabric_and_a_scenario_are_short_in_a_notebook(results):
    drawn = Content(results, None).fabric
    assert repr(drawn) == "Fabric('fat-tree k=4': 16 hosts, 20 switches, 48 links)"
    scenario = Scenario.from_text(results.scenario_text)
    assert len(repr(scenario)) < 120


def test_values_are_shown_as_a_scenario_writes_them() -> None:
    values = {"web-search": "web-search", "0.4": 0.4, "1": 1.0, "true": True, '["h0", "h1"]': ["h0", "h1"]}
    assert {show(value): value for value in values.values()} == values
    assert show(None) == "not given", "a key that one of two directories does not have"
