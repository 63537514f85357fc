"""Differences are over flows that finished under both schemes: who strands the slowest flows does not look better."""

from __future__ import annotations

import json
import re

import numpy as np
import polars as pl
import pytest

import sample
from weft import Results, aggregates, extracts
from weft.difference import LEFT_OUT, difference
from weft.metrics import METRICS, OF_FINISHED
from weft.reporting.findings import findings
from weft.scenario import Scenario
from weft.statistics import holm, p_value
from weft.summary import summarise

SEEDS = 6
METRIC = {metric.key: metric for metric in METRICS}


def change(results, scheme, where, expressions):
    """Change the flows of a scheme's runs."""
    for run in results.finished:
        if run.scheme == scheme:
            file = run.path / "flows.parquet"
            changed = [
                pl.when(where).then(value).otherwise(pl.col(name)).alias(name) for name, value in expressions.items()
            ]
            pl.read_parquet(file).with_columns(changed).write_parquet(file)


def strand(results, scheme, kind, number):
    """The slowest flows of a class do not finish under a scheme."""
    ended = (pl.col("class").cast(pl.String) == kind) & pl.col("measured") & pl.col("fct_ps").is_not_null()
    slowest = ended & (pl.when(ended).then(pl.col("fct_ps")).rank("ordinal", descending=True) <= number)
    change(results, scheme, slowest, {"fct_ps": None, "end_ps": None})


@pytest.fixture
def twins(tmp_path):
    """Two schemes with the same completion times, but that `spray` is 1 % slower."""
    sweep = {"scheme.name": ["ecmp", "spray"]}
    found = Results(sample.write_results(tmp_path / "r", sweep, SEEDS, flows=300, samples=4, baseline="ecmp"))
    ecmp, spray = ([run for run in found.finished if run.scheme == name] for name in ("ecmp", "spray"))
    for one, other in zip(ecmp, spray, strict=True):
        flows = pl.read_parquet(one.path / "flows.parquet")
        rng = np.random.default_rng(one.seed)
        slower = 1.01 + 0.001 * rng.standard_normal(len(flows))
        flows.with_columns((pl.col("fct_ps") * slower).cast(pl.Int64)).write_parquet(other.path / "flows.parquet")
    return Results(found.path)


def row_of(results, kind="elephant", scheme="spray", **options):
    (row,) = (
        row for row in summarise(results, **options).rows if (row.group["class"], row.group["scheme"]) == (kind, scheme)
    )
    return row


def by_hand(results, kind, value):
    """`value` of the flows of a class that finished under both schemes, for each seed under `spray` and `ecmp`."""
    flows = results.flows().filter(pl.col("class") == kind, pl.col("fct_s").is_not_null())
    sides = {}
    for seed in results.seeds:
        own, other = (flows.filter(pl.col("seed") == seed, pl.col("scheme") == name) for name in ("spray", "ecmp"))
        shared = set(own["flow"]) & set(other["flow"])
        sides[seed] = [value(side.filter(pl.col("flow").is_in(list(shared)))) for side in (own, other)]
    return [{seed: pair[at] for seed, pair in sides.items()} for at in (0, 1)]


VALUES = {
    "mean_fct_s": lambda flows: flows["fct_s"].mean(),
    "median_fct_s": lambda flows: np.quantile(flows["fct_s"].to_numpy(), 0.5),
    "p99_fct_s": lambda flows: np.quantile(flows["fct_s"].to_numpy(), 0.99),
    "mean_slowdown": lambda flows: flows["slowdown"].mean(),
    "mean_throughput_bps": lambda flows: flows["throughput_bps"].mean(),
}


@pytest.mark.parametrize("who", ["spray", "ecmp"])
def test_differences_are_over_the_flows_that_finished_under_both(twins, who):
    strand(twins, who, "elephant", 3)
    found = Results(twins.path)
    row, base = row_of(found), row_of(found, scheme="ecmp")
    assert set(VALUES) == {metric.key for metric in OF_FINISHED if not metric.rare}
    for key, value in VALUES.items():
        own, other = by_hand(found, "elephant", value)
        wanted, got = difference(own, other), row.differences[key]
        assert (got.ratio.mean, got.p) == pytest.approx((wanted.ratio.mean, wanted.p)), key
        assert abs(got.change.mean) == pytest.approx(0.01, abs=0.002), key
    apart = row.estimates["mean_fct_s"].mean / base.estimates["mean_fct_s"].mean - 1
    assert abs(apart) > 0.05, "the means of each scheme's own flows would say something else"
    left_out = 3 * SEEDS
    assert (row.shared.unfinished, row.shared.baseline_unfinished) == (
        (left_out, 0) if who == "spray" else (0, left_out)
    )
    assert row.shared.flows == row.flows - left_out


@pytest.mark.parametrize("by", [["scheme"], ["class", "scheme"], ["point", "scheme"]])
def test_groups_and_all_classes_together_are_compared_alike(twins, by):
    strand(twins, "spray", "elephant", 4)
    rows = summarise(Results(twins.path), by=by).rows
    assert all(
        abs(one.change.mean) == pytest.approx(0.01, abs=0.002)
        for row in rows
        for key, one in row.differences.items()
        if METRIC[key].of_finished
    )


@pytest.mark.parametrize(
    ("faster", "who", "verdict"),
    [
        (0.9, "spray", ""),
        (0.9, "ecmp", "good"),
        (1.1, "spray", "bad"),
        (1.1, "ecmp", ""),
    ],
)
def test_the_side_with_more_unfinished_flows_is_never_called_better(twins, faster, who, verdict):
    change(twins, "spray", pl.lit(value=True), {"fct_ps": (pl.col("fct_ps") * faster).cast(pl.Int64)})
    strand(twins, who, "elephant", 2)
    found = summarise(Results(twins.path))
    (row,) = (row for row in found.rows if row.differences and row.group["class"] == "elephant")
    one = row.differences["mean_fct_s"]
    assert one.significant
    assert one.verdict(-1) == verdict
    assert one.text("s").endswith(f"*{LEFT_OUT}")
    assert verdict or not any("elephant" in one.text for one in findings(found))


def test_unfinished_flows_of_both_sides_are_beside_the_number(weft, twins, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    strand(twins, "ecmp", "elephant", 2)
    strand(twins, "spray", "elephant", 5)
    text = weft("summary", twins.path).stdout
    assert "5/2" in text
    assert "only flows that finished under both count" in " ".join(text.split())
    assert "Unfinished: the scheme's/the baseline's." in " ".join(text.split())
    rows = json.loads(weft("summary", twins.path, "--json").stdout)["rows"]
    (row,) = (row for row in rows if (row["class"], row["scheme"]) == ("elephant", "spray"))
    assert row["compared"] == {
        "flows": row["flows"] - 5 * SEEDS,
        "unfinished": 5 * SEEDS,
        "baseline_unfinished": 2 * SEEDS,
    }
    weft("report", twins.path)
    shown = re.sub(r"<[^>]+>", "", (twins.path / "report.html").read_text())
    assert "2 unfinished under ecmp" in shown


def test_kept_numbers_follow_a_changed_run(twins, monkeypatch):
    monkeypatch.setattr(aggregates, "WORTH", 0)
    strand(twins, "spray", "elephant", 3)
    first = summarise(Results(twins.path)).as_dict()
    assert summarise(Results(twins.path)).as_dict() == first
    strand(twins, "spray", "elephant", 1)
    assert summarise(Results(twins.path)).as_dict() != first


def test_runs_with_other_flows_are_paired_by_seed_alone(twins):
    change(twins, "spray", pl.col("flow") == 200, {"src": pl.lit("h15"), "dst": pl.lit("h0")})
    strand(twins, "spray", "elephant", 3)
    found = summarise(Results(twins.path))
    assert not found.same_flows
    (row,) = (row for row in found.rows if row.differences and row.group["class"] == "elephant")
    assert row.differences["mean_fct_s"].change.mean < -0.05
    assert row.differences["mean_fct_s"].verdict(-1) == ""
    [sign] = [text for text in found.signs() if text.startswith(LEFT_OUT)]
    assert "each side's finished flows count" in sign
    assert "under both" not in sign


WAITING = """
name = "flows that wait beside others that do not"
[fabric]
kind = "fat-tree"
k = 4
rate = "10 Gbps"
delay = "1 us"
{waiting}
[[traffic]]
class = "open"
sizes = {{ fixed = "100 kB" }}
flows = 40
load = 0.2
[scheme]
name = "ecmp"
[run]
duration = "20 ms"
seeds = 1
[measure]
baseline = "{baseline}"
[sweep]
{axis}
"""
RING = '[[traffic]]\ncollective = "ring-all-reduce"\nbytes = "400 kB"\n'
CHAIN = """[[traffic]]
flow_list = [
    { id = "a", src = "h0", dst = "h15", bytes = "1 MB" },
    { src = "h15", dst = "h0", bytes = "1 MB", after_received = ["a"] },
]
"""
BY_SCHEME = '"scheme.name" = ["ecmp", "spray"]'


@pytest.mark.parametrize(
    ("waiting", "axis", "baseline", "same"),
    [
        (RING, BY_SCHEME, "ecmp", True),
        (CHAIN, BY_SCHEME, "ecmp", True),
        ("", BY_SCHEME, "ecmp", True),
        (RING, '"traffic.open.load" = [0.2, 0.4]', "0.2", False),
        ("", '"traffic.open.load" = [0.2, 0.4]', "0.2", False),
    ],
)
def test_flows_that_wait_are_the_same_whenever_they_start(tmp_path, waiting, axis, baseline, same):
    text = WAITING.format(waiting=waiting, axis=axis, baseline=baseline)
    found = Scenario.from_text(text, "waiting.toml").run(tmp_path / "r", jobs=1)
    starts = [pl.read_parquet(run.path / "flows.parquet").sort("flow")["start_ps"].to_list() for run in found.finished]
    assert (starts[0] == starts[1]) == (same and not waiting)
    assert summarise(found).same_flows == same


def test_without_a_common_flow_there_is_no_difference(twins):
    strand(twins, "spray", "elephant", 10**6)
    row = row_of(Results(twins.path))
    assert row.differences["mean_fct_s"] is None
    assert row.differences["drops"] is not None


def test_a_distribution_ends_at_the_share_that_finished(twins):
    strand(twins, "spray", "elephant", 5)
    found = Results(twins.path)
    row = row_of(found)
    ends = extracts.completion_curves(found).group_by("scheme", "class").agg(pl.col("share").max())
    (end,) = (share for scheme, kind, share in ends.iter_rows() if (scheme, kind) == ("spray", "elephant"))
    assert end == pytest.approx(row.finished / row.flows)


def finishing(results, scheme, kind, number):
    """Only so many measured flows of a class finish in each run of a scheme."""
    ended = (pl.col("class").cast(pl.String) == kind) & pl.col("measured") & pl.col("fct_ps").is_not_null()
    others = ended & (pl.when(ended).then(pl.col("flow")).rank("ordinal") > number)
    change(results, scheme, others, {"fct_ps": None, "end_ps": None})


def test_a_quantile_of_few_flows_is_marked(twins, weft):
    finishing(twins, "ecmp", "mouse", 100)
    finishing(twins, "spray", "mouse", 101)
    finishing(twins, "ecmp", "elephant", 2)
    finishing(twins, "spray", "elephant", 3)
    found = Results(twins.path)
    runs = found.flows().drop_nulls("fct_s").group_by("scheme", "class", "run").agg("fct_s")
    counts = {(scheme, kind): len(values) for scheme, kind, _, values in runs.iter_rows()}
    assert [counts[scheme, "mouse"] for scheme in ("ecmp", "spray")] == [100, 101]
    assert [counts[scheme, "elephant"] for scheme in ("ecmp", "spray")] == [2, 3]
    for row in summarise(found).rows:
        place = row.group["scheme"], row.group["class"]
        values = [sorted(fct) for scheme, kind, _, fct in runs.iter_rows() if (scheme, kind) == place]
        for key, share in (("median_fct_s", 0.5), ("p99_fct_s", 0.99)):
            between = any(np.quantile(of_run, share) > of_run[-2] * (1 + 1e-9) for of_run in values)
            assert row.few(METRIC[key]) == between, (place, key)
        assert not row.few(METRIC["mean_fct_s"])
    text = " ".join(weft("summary", twins.path).stdout.split())
    assert "fewer finished in a run than 101 for p99 FCT, 3 for Median FCT" in text


def test_p_values_are_adjusted_as_by_hand():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([]) == []
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert p_value([1.0]) is None
    assert p_value([2.0, 2.0]) == 0
    # t = 2 / (1 / sqrt(3)) with 2 degrees of freedom.
    assert p_value([1.0, 2.0, 3.0]) == pytest.approx(0.0741799, abs=1e-6)


def test_noise_gives_no_star(tmp_path, weft):
    """Ten schemes with nothing between them but noise: 240 differences, of which some have intervals without zero."""
    sweep = {"scheme.name": [f"scheme{at}" for at in range(11)]}
    directory = sample.write_results(tmp_path / "r", sweep, 5, flows=80, samples=2, baseline="scheme0")
    found = summarise(Results(directory))
    all_of = [one for row in found.rows for one in row.differences.values() if one and one.p is not None]
    assert found.family == len(all_of) == 240
    assert sum(one.p < 0.05 for one in all_of) > 3
    assert not any(one.significant for one in all_of)
    assert not findings(found)
    assert "Holm's correction for all differences at a point (up to 240)" in " ".join(
        weft("summary", directory).stdout.split()
    )
