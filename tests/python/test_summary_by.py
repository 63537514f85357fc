"""The summary of groups with several runs per seed, its captions, and points without flows."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import stats

import sample
from weft import Results, ResultsError, quantity, stored_values
from weft.difference import difference
from weft.group_values import per_seed
from weft.metrics import METRICS
from weft.reporting import write
from weft.summary import summarise

SMALL = {"flows": 60, "samples": 4}

# Flows that have not ended.
NO_END = pl.lit(None, pl.Int64).alias("fct_ps")
# Flows outside the measurement window.
NOT_MEASURED = pl.lit(value=False).alias("measured")


def rewrite(results, change, seed=None, **overrides):
    """Change the flows of the finished runs with these values of the sweep's keys, named without dots."""
    for run in results.finished:
        chosen = all(run.overrides[key.replace("__", ".")] == value for key, value in overrides.items())
        if chosen and seed in (None, run.seed):
            file = run.path / "flows.parquet"
            pl.read_parquet(file).with_columns(change).write_parquet(file)


def row_of(results, kind, scheme):
    """The row of a class and scheme, over all loads."""
    rows = {(row.group["class"], row.group["scheme"]): row for row in summarise(results, by=["class", "scheme"]).rows}
    return rows[kind, scheme]


def squeezed(text):
    return " ".join(text.split())


def text_of(result):
    return squeezed(result.stdout)


@pytest.fixture
def unequal(tmp_path):
    """A sweep over the load, with a third as many flows at load 0.2 as at 0.4."""
    found = Results(sample.write_results(tmp_path / "r", flows=300, samples=4, baseline="ecmp"))
    third = pl.col("measured") & (pl.col("flow") % 3 == 0)
    rewrite(found, third.alias("measured"), traffic__load=0.2)
    return found


def by_hand(results, scheme, kind, seed, value):
    """The mean over the runs of a seed of `value`, a function of a run's measured flows."""
    each = []
    for run in results.finished:
        if (run.scheme, run.seed) == (scheme, seed):
            flows = pl.read_parquet(run.path / "flows.parquet").filter(
                pl.col("measured") & (pl.col("class").cast(pl.String) == kind)
            )
            each.append(value(flows))
    assert len(each) == 2
    return float(np.mean(each))


VALUES = {
    "mean_fct_s": lambda flows: flows["fct_ps"].mean() / 1e12,
    "p99_fct_s": lambda flows: np.quantile(flows["fct_ps"].drop_nulls().to_numpy() / 1e12, 0.99),
    "out_of_order_share": lambda flows: flows["out_of_order"].sum() / flows["first_transmissions_received"].sum(),
    "retransmissions": lambda flows: flows["retransmissions"].sum(),
}


def test_runs_of_a_seed_are_averaged_and_not_pooled(unequal):
    row = row_of(unequal, "rabbit", "spray")
    for metric, value in VALUES.items():
        own, other = (
            {seed: by_hand(unequal, scheme, "rabbit", seed, value) for seed in (1, 2, 3)}
            for scheme in ("spray", "ecmp")
        )
        got = row.estimates[metric]
        data = list(own.values())
        low, high = stats.t.interval(0.95, 2, loc=np.mean(data), scale=stats.sem(data))
        assert (got.mean, got.low, got.high) == pytest.approx((np.mean(data), low, high)), metric
        paired = difference(own, other)
        found = row.differences[metric]
        assert found.absolute.mean == pytest.approx(paired.absolute.mean), metric
        assert (found.ratio is None) == (paired.ratio is None), metric
        if paired.ratio:
            assert found.ratio.mean == pytest.approx(paired.ratio.mean), metric


def test_the_flows_of_a_group_are_counted_per_run(unequal):
    flows, finished = (
        np.mean([by_hand(unequal, "ecmp", "mouse", seed, count) for seed in (1, 2, 3)])
        for count in (len, lambda flows: flows["fct_ps"].count())
    )
    row = row_of(unequal, "mouse", "ecmp")
    assert row.per_run(row.flows) == pytest.approx(flows)
    assert row.per_run(row.finished) == pytest.approx(finished)
    assert flows > finished, "one flow in each run has not finished"


def test_a_group_of_several_runs_is_the_mean_of_its_points(unequal):
    default = summarise(unequal)
    assert all(isinstance(row.flows, int) and isinstance(row.finished, int) for row in default.rows)
    assert not default.several_runs
    whole = {
        (row.group["traffic.load"], row.group["class"]): row for row in default.rows if row.group["scheme"] == "ecmp"
    }
    rows = [row for row in summarise(unequal, by=["class", "scheme"]).rows if row.group["scheme"] == "ecmp"]
    for row in rows:
        parts = [whole[load, row.group["class"]] for load in (0.2, 0.4)]
        for metric in METRICS:
            values = [part.estimates[metric.key].mean for part in parts]
            assert row.estimates[metric.key].mean == pytest.approx(np.mean(values)), metric.key


def test_a_run_without_a_value_does_not_count_and_a_seed_without_any_has_none(tmp_path):
    sweep = {"scheme.name": ["ecmp"], "traffic.load": [0.2, 0.4]}
    found = Results(sample.write_results(tmp_path / "r", sweep, seeds=2, **SMALL))
    rewrite(found, NO_END, traffic__load=0.2)
    rewrite(found, NO_END, seed=2, traffic__load=0.4)
    values = {
        record["seed"]: record
        for record in per_seed(found, ["class"]).iter_rows(named=True)
        if record["class"] == "elephant"
    }
    (only,) = (
        record["mean_fct_s"]
        for record in per_seed(found).iter_rows(named=True)
        if (record["class"], record["traffic.load"], record["seed"]) == ("elephant", 0.4, 1)
    )
    assert values[1]["mean_fct_s"] == only > 0
    assert values[2]["mean_fct_s"] is None
    assert values[2]["finished"] == 0
    drops = per_seed(found).filter(pl.col("class") == "elephant", pl.col("seed") == 2)["drops"]
    assert len(drops) == 2
    assert drops.min() > 0
    assert values[2]["drops"] == drops.mean()


def test_the_caption_names_the_runs_of_a_seed(weft, unequal, tmp_path):
    text = text_of(weft("summary", unequal.path, "--by", "class,scheme"))
    assert "One value per run, averaged over the runs of a seed, then over 3 seeds." in text
    for columns in ("class,scheme,load", "point,scheme"):
        text = text_of(weft("summary", unequal.path, "--by", columns))
        assert "One value per run, averaged over 3 seeds." in text
    one = sample.write_results(tmp_path / "one", seeds=1, **SMALL)
    text = text_of(weft("summary", one, "--by", "class,scheme"))
    assert "One value per run, averaged over the runs of the seed. One seed: no confidence intervals" in text
    assert "runs of the seed" not in text_of(weft("summary", one))


def test_the_table_takes_counts_that_are_not_whole(weft, unequal):
    flows = {row.group["scheme"]: row.per_run(row.flows) for row in summarise(unequal, by=["scheme"]).rows}
    assert not float(flows["ecmp"]).is_integer()
    assert f" {quantity.count(flows['ecmp'])} " in text_of(weft("summary", unequal.path, "--by", "scheme"))
    frame = unequal.summary(by=["scheme"])
    assert frame.schema["flows"] == pl.Float64


@pytest.mark.parametrize("gap", ["a run is missing", "no flow of a run has finished"])
def test_only_runs_at_points_of_both_schemes_are_compared(unequal, gap):
    gone = {"scheme.name": "spray", "traffic.load": 0.4}
    if gap == "a run is missing":
        (run,) = (run for run in unequal.finished if (run.overrides, run.seed) == (gone, 2))
        (run.path / "summary.json").unlink()
    else:
        rewrite(unequal, NO_END, seed=2, scheme__name="spray", traffic__load=0.4)
    found = Results(unequal.path)
    part = {
        (record["scheme"], record["traffic.load"], record["seed"]): record["mean_fct_s"]
        for record in per_seed(found).iter_rows(named=True)
        if record["class"] == "rabbit"
    }
    own, other = (
        {seed: np.mean([part[scheme, load, seed] for load in loads]) for seed, loads in LOADS.items()}
        for scheme in ("spray", "ecmp")
    )
    row = row_of(found, "rabbit", "spray")
    assert row.differences["mean_fct_s"].absolute.mean == pytest.approx(difference(own, other).absolute.mean)


LOADS = {1: (0.2, 0.4), 2: (0.2,), 3: (0.2, 0.4)}
"""Where both schemes have values."""


def test_a_compared_key_among_the_columns_leaves_nothing_to_compare_with(weft, tmp_path):
    sweep = {"transport.profile": ["linux", "dctcp"], "traffic.load": [0.2, 0.4]}
    directory = sample.write_results(tmp_path / "r", sweep, seeds=2, baseline="ecmp", **SMALL)
    refused = weft("summary", directory, "--by", "profile,scheme", "--baseline", "dctcp")
    assert refused.exit_code == 2
    assert "remove `transport.profile` from --by" in squeezed(refused.stderr)
    assert "Signed" not in weft("summary", directory, "--by", "profile,scheme").stdout


def test_a_given_baseline_needs_the_scheme_among_the_columns(weft, unequal):
    said = "`--baseline` needs `scheme` among the columns to group by: add it to --by"
    with pytest.raises(ResultsError, match=said):
        summarise(unequal, by=["class"], baseline="spray")
    refused = weft("summary", unequal.path, "--by", "class", "--baseline", "spray")
    assert refused.exit_code == 2
    assert said in squeezed(refused.stderr)
    # The scenario's own baseline is left out without a word.
    assert unequal.baseline == "ecmp"
    assert summarise(unequal, by=["class"]).baseline is None


@pytest.mark.parametrize(
    ("sweep", "said"),
    [
        (
            {"traffic.load": [0.2, 0.4], "traffic.sizes": ["web-search", "data-mining"]},
            "ecmp sizes=web-search, same seed",
        ),
        ({"traffic.load": [0.2, 0.4], "fabric.queue": ["9 kB", "99 kB"]}, "ecmp queue=9 kB, same flows"),
        ({"traffic.load": [0.2, 0.4], "transport.profile": ["linux", "dctcp"]}, "ecmp profile=linux, same flows"),
        ({"traffic.load": [0.2, 0.4], "scheme.name": ["ecmp", "spray"]}, "ecmp, same flows"),
    ],
)
def test_the_same_flows_are_claimed_only_where_the_flows_are_the_same(weft, tmp_path, sweep, said):
    directory = sample.write_results(tmp_path / "r", sweep, seeds=2, baseline="ecmp", **SMALL)
    assert f"Signed: difference from {said}." in text_of(weft("summary", directory))


def test_a_point_without_flows_is_named(weft, tmp_path):
    found = Results(sample.write_results(tmp_path / "r", seeds=2, **SMALL))
    rewrite(found, NOT_MEASURED, traffic__load=0.2, scheme__name="spray")
    assert "no flow started" not in weft("summary", found.path).output, "another scheme has flows there"
    rewrite(found, NOT_MEASURED, traffic__load=0.2)
    lines = weft("summary", found.path).stdout.splitlines()
    assert lines.count("load 0.2: no flow started in the measurement window") == 1
    assert "load 0.2: no flow started in the measurement window" in write(found, tmp_path / "page").read_text()
    rewrite(found, NOT_MEASURED)
    everything = weft("summary", found.path).stdout
    assert "there is nothing to compare" in everything
    assert "load 0.2" not in everything


def test_five_points_without_flows_are_named_and_the_others_counted(weft, tmp_path):
    sweep = {"traffic.load": [round(0.1 * step, 1) for step in range(1, 9)]}
    found = Results(sample.write_results(tmp_path / "r", sweep, seeds=1, **SMALL))
    for load in sweep["traffic.load"][:5]:
        rewrite(found, NOT_MEASURED, traffic__load=load)
    text = weft("summary", found.path).stdout
    assert (text.count("no flow started"), "more" in text.replace("or more", "")) == (5, False)
    rewrite(found, NOT_MEASURED, traffic__load=0.6)
    rewrite(found, NOT_MEASURED, traffic__load=0.7)
    lines = weft("summary", found.path).stdout.splitlines()
    assert sum("no flow started" in line for line in lines) == 5
    assert "and 2 more points without flows" in lines


def test_where_the_compared_value_changes_the_flows_a_point_is_named_with_it(weft, tmp_path):
    sweep = {"traffic.load": [0.2, 0.4], "traffic.sizes": ["web-search", "data-mining"]}
    found = Results(sample.write_results(tmp_path / "r", sweep, seeds=1, **SMALL))
    rewrite(found, NOT_MEASURED, traffic__load=0.2, traffic__sizes="data-mining")
    said = "load 0.2, ecmp sizes=data-mining: no flow started in the measurement window"
    assert said in weft("summary", found.path).stdout.splitlines()


def test_without_a_baseline_the_stored_values_of_classes_make_the_same_table(engine_results):
    stored, computed = (summarise(engine_results, stored=own) for own in (True, False))
    assert stored_values.per_run(engine_results, ["class", "scheme"])
    assert [(row.group, row.seeds, row.flows, row.finished, row.least) for row in stored.rows] == [
        (row.group, row.seeds, row.flows, row.finished, row.least) for row in computed.rows
    ]
    for one, other in zip(stored.rows, computed.rows, strict=True):
        for metric in METRICS:
            means = [row.estimates[metric.key].mean for row in (one, other)]
            assert means[0] == pytest.approx(means[1], rel=1e-12), metric.key


def test_values_are_computed_where_the_stored_ones_do_not_suffice(engine_results):
    assert stored_values.per_run(engine_results, ["scheme"]) is None, "all classes together"
    assert stored_values.per_run(engine_results, ["class"]) is None, "several schemes per seed"


def _without_metric(run):
    path = run.path / "summary.json"
    summary = json.loads(path.read_text())
    for values in summary["classes"].values():
        del values["p99_fct_s"]
    path.write_text(json.dumps(summary, indent=2))


def _without_classes(run, classes=None):
    path = run.path / "summary.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"classes": classes}, indent=2))


def _with_text(run):
    path = run.path / "summary.json"
    path.write_text(re.sub(r'("p99_fct_s": )[^,\n]*', r'\1"x"', path.read_text()))


def _without_any(run):
    _without_classes(run, {})


@pytest.mark.parametrize("damage", [_without_metric, _without_classes, _without_any, _with_text])
def test_values_that_are_not_there_are_computed(engine_results, tmp_path, damage):
    own = Results(Path(shutil.copytree(engine_results.path, tmp_path / "own")))
    expected = summarise(own, stored=False)
    damage(own.finished[0])
    again = Results(own.path)
    assert stored_values.per_run(again, ["class", "scheme"]) is None
    assert [row.flows for row in summarise(again, stored=True).rows] == [row.flows for row in expected.rows]


@pytest.mark.parametrize("size", [0, 3, 100, -1])
def test_a_damaged_file_of_flows_is_noticed_by_a_run_that_is_resumed(weft, engine_results, tmp_path, monkeypatch, size):
    own = Results(Path(shutil.copytree(engine_results.path, tmp_path / "own")))
    path = own.finished[0].path / "flows.parquet"
    path.write_bytes(path.read_bytes()[:size])
    assert stored_values.per_run(own, ["class", "scheme"]) is None
    results = tmp_path / "results" / "scenario"
    results.parent.mkdir()
    own.path.rename(results)
    monkeypatch.chdir(tmp_path)
    # Without -o, too, the command finds the file.
    done = weft("run", results / "scenario.toml")
    damaged = path.relative_to(own.path)
    assert (done.exit_code, f"{Path('results/scenario') / damaged} is damaged" in done.stderr) == (2, True), done.output
