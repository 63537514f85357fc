"""All schemes with each other: pairs with Holm's correction and ranks, in tables, in the page and in files."""

from __future__ import annotations

import json
import warnings
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from scipy import stats

import sample
from weft import Results, ResultsError, plot, report
from weft.group_values import per_seed
from weft.scheme_pairs import all_pairs
from weft.scheme_ranks import ranked
from weft.statistics import holm
from weft.summary import summarise

SMALL = {"flows": 150, "samples": 4}
SCHEMES = ["single_path", "ecmp", "spray"]


def printed(result):
    return " ".join((result.stdout + result.stderr).split())


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    sweep = {"scheme.name": SCHEMES, "traffic.load": [0.2, 0.4]}
    path = sample.write_results(tmp_path_factory.mktemp("all") / "r", sweep, seeds=6, **SMALL)
    for file in path.glob("runs/*/flows.parquet"):
        flows = pl.read_parquet(file)
        # All flows finish, so that values can be computed from those of each run.
        flows.with_columns(pl.col("fct_ps", "end_ps").fill_null(pl.col("ideal_fct_ps") * 3)).write_parquet(file)
    return path


def by_hand(directory, key, pair, load, kind):
    """The values of two schemes by seed, from those of each run."""
    rows = per_seed(Results(directory)).filter(pl.col("traffic.load") == load, pl.col("class") == kind)
    return [rows.filter(pl.col("scheme") == name).sort("seed")[key].to_numpy() for name in pair]


def test_every_pair_is_that_of_scipy_with_one_correction_at_a_point(directory):
    found = Results(directory).pairs(metrics=["mean_fct_s", "drops"])
    assert found.height == 2 * 3 * 3 * 2
    assert found.columns[:7] == ["traffic_load", "class", "metric", "scheme", "other", "seeds", "flows"]
    for load in (0.2, 0.4):
        part = found.filter(pl.col("traffic_load") == load)
        raw = []
        for row in part.iter_rows(named=True):
            own, other = by_hand(directory, row["metric"], (row["scheme"], row["other"]), load, row["class"])
            logs = row["ratio"] is not None
            test = stats.ttest_rel(np.log(own), np.log(other)) if logs else stats.ttest_rel(own, other)
            p = 1.0 if np.array_equal(own, other) else test.pvalue
            assert row["p"] == pytest.approx(p, rel=1e-6)
            assert row["diff"] == pytest.approx((own - other).mean(), abs=1e-12)
            if logs:
                ends = np.exp(stats.ttest_rel(np.log(own), np.log(other)).confidence_interval())
                assert (row["ratio_low"], row["ratio_high"]) == pytest.approx(tuple(ends))
            raw.append(row["p"])
        assert part["p_adjusted"].to_list() == pytest.approx(holm(raw))
    assert set(zip(found["scheme"], found["other"], strict=True)) == {
        (own, other) for other, own in combinations(SCHEMES, 2)
    }


def test_a_pair_with_the_baseline_is_the_difference_of_the_summary(directory):
    summary = summarise(Results(directory), baseline="ecmp")
    table = all_pairs(Results(directory))
    [row] = [row for row in summary.rows if row.group == {"traffic.load": 0.4, "class": "mouse", "scheme": "spray"}]
    [pair] = [
        row
        for row in table.rows
        if row.group == {"traffic.load": 0.4, "class": "mouse"} and (row.scheme, row.other) == ("spray", "ecmp")
    ]
    assert {key: one.change for key, one in pair.differences.items()} == {
        key: one.change for key, one in row.differences.items()
    }
    assert table.family == 3 * 8 * 3 and summary.family == 2 * 8 * 3
    assert pair.differences["mean_fct_s"].adjusted >= row.differences["mean_fct_s"].adjusted


def test_ranks_at_one_point_agree_with_the_pairs(directory):
    options = {"by": ["traffic.load", "class", "scheme"], "metrics": ["mean_fct_s"]}
    ranking = [one for one in ranked(Results(directory), **options).rankings if one.group["traffic.load"] == 0.2]
    pairs = Results(directory).pairs(metrics=["mean_fct_s"]).filter(pl.col("traffic_load") == 0.2)
    found = {(row["class"], frozenset((row["scheme"], row["other"]))): row["p"] for row in pairs.iter_rows(named=True)}
    assert len(ranking) == 3
    for one in ranking:
        assert one.contest.blocks == one.contest.seeds == 6
        for pair, p in one.contest.tests.items():
            assert p == pytest.approx(found[one.group["class"], frozenset(pair)])


def test_all_pairs_of_a_table_of_ranks_have_one_correction(directory):
    table = ranked(Results(directory), metrics=["mean_fct_s", "drops"])
    raw = [p for one in table.rankings for p in one.contest.tests.values()]
    assert table.family == len(raw) == 3 * 3 * 2
    assert [p for one in table.rankings for p in one.adjusted.values()] == pytest.approx(holm(raw))


def test_directories_are_ranked_side_by_side(weft, tmp_path):
    paths = []
    for name, scheme in (("before", "ecmp"), ("after", "spray")):
        paths.append(sample.write_results(tmp_path / name, {"scheme.name": [scheme]}, seeds=3, **SMALL))
        index = json.loads((paths[-1] / "sweep.json").read_text())
        (paths[-1] / "sweep.json").write_text(json.dumps(index | {"scenario_sha": name}))
    text = printed(weft("summary", *paths, "--pairs", "--ranks", "--metric", "mean_fct_s"))
    assert "− before" in text and "Mean ranks over 3 blocks" in text


def test_ranks_are_over_seeds_and_points(directory):
    frame = Results(directory).ranks(metrics=["mean_fct_s"])
    assert frame["blocks"].unique().to_list() == [12] and frame["seeds"].unique().to_list() == [6]
    assert frame.filter(pl.col("class") == "rabbit")["scheme"].to_list() == ["spray", "ecmp", "single_path"]
    assert frame["groups"].str.len_chars().min() >= 1
    whole = Results(directory).ranks(by=["scheme"], metrics=["mean_fct_s"])
    assert whole.columns[:3] == ["metric", "scheme", "rank"] and whole.height == 3
    loads = Results(directory).ranks(by=["class", "scheme"], metrics=["mean_fct_s"], baseline="load=0.2")
    assert loads["scheme"].n_unique() == 6 and loads["blocks"].unique().to_list() == [6]


def test_the_terminal_shows_pairs_and_ranks(weft, directory):
    text = printed(weft("summary", directory, "--pairs", "--metric", "mean_fct_s"))
    assert "load 0.2" in text and "− single_path" in text
    assert "Holm's correction for all differences at a point (up to 9)" in text
    text = printed(weft("summary", directory, "--ranks", "--metric", "mean_fct_s,p99_fct_s"))
    assert "Mean ranks over 12 blocks" in text and "Friedman's p" in text
    assert "1.00 a" in text and "correction for 18 pairs of all classes and metrics" in text
    both = json.loads(weft("summary", directory, "--pairs", "--ranks", "--json", "--metric", "p99-fct-s").stdout)
    assert set(both) == {"pairs", "ranks"}
    assert len(both["pairs"]["rows"]) == 18 and set(both["pairs"]["rows"][0]["metrics"]) == {"p99_fct_s"}
    [first, *_] = both["ranks"]["rankings"]
    assert set(first["ranks"]) == set(SCHEMES) and {name for group in first["groups"] for name in group} == set(SCHEMES)


def test_small_samples_are_marked(weft, tmp_path):
    path = sample.write_results(tmp_path / "r", {"scheme.name": SCHEMES}, seeds=3, flows=30, samples=4)
    text = printed(weft("summary", path, "--pairs", "--metric", "mean_fct_s,p99_fct_s"))
    assert "3§" in text
    # t(1 - 0.05 / 36, 2) / sqrt(3), for three pairs, three classes and two metrics
    least = stats.t.ppf(1 - 0.05 / 36, 2) / 3**0.5
    assert (
        f"§: fewer than 5 seeds: with 3, a difference must exceed {least:.0f} standard deviations (over seeds)" in text
    )
    assert "‡: of few flows (fewer compared in a run than 10 for Mean FCT, 101 for p99 FCT)." in text
    assert "Caution, fewer than 5 seeds: with 3, " in printed(weft("summary", path, "--ranks"))
    pairs = Results(path).pairs(metrics=["p99_fct_s"])
    assert pairs.filter(pl.col("class") == "elephant")["few_flows"].all()


@pytest.mark.parametrize("option", ["--pairs", "--ranks"])
def test_errors_give_the_remedy(weft, tmp_path, directory, option):
    one = sample.write_results(tmp_path / "one", {"scheme.name": SCHEMES}, seeds=1, **SMALL)
    text = printed(weft("summary", one, option))
    assert "has one seed" in text and "`--seeds 5`" in text
    alone = sample.write_results(tmp_path / "alone", {"traffic.load": [0.2, 0.4]}, seeds=2, **SMALL)
    assert "compare the values of a swept key by `--baseline load=0.2`" in printed(weft("summary", alone, option))
    assert weft("summary", alone, option, "--baseline", "load=0.2").exit_code == 0
    refused = weft("summary", directory, option, "--metric", "fct")
    assert refused.exit_code != 0 and "no metric `fct`: choose from mean_fct_s, median_fct_s" in printed(refused)
    assert "add `scheme` to --by" in printed(weft("summary", directory, option, "--by", "class"))
    assert "choose from single_path, ecmp, spray, or" in printed(weft("summary", directory, option, "--baseline", "x"))


def test_a_metric_needs_pairs_or_ranks(weft, directory):
    refused = weft("summary", directory, "--metric", "drops")
    assert refused.exit_code != 0 and "--metric is for --pairs and --ranks" in printed(refused)


def unsteady(path, scheme, loads):
    for run in Results(path).runs:
        if run.scheme == scheme and run.overrides["traffic.load"] in loads:
            file = run.path / "summary.json"
            state = {"state": "overloaded", "reasons": ["too much"]}
            file.write_text(json.dumps(json.loads(file.read_text()) | {"steady": state}))


def test_points_without_a_steady_state_are_left_out(tmp_path):
    sweep = {"scheme.name": SCHEMES, "traffic.load": [0.2, 0.4]}
    path = sample.write_results(tmp_path / "r", sweep, seeds=2, **SMALL)
    unsteady(path, "ecmp", [0.4])
    table = ranked(Results(path), metrics=["mean_fct_s"])
    assert {one.contest.blocks for one in table.rankings} == {2}
    assert table.left_out == ["load 0.4 is left out: no values that count, or no steady state, under ecmp."]
    pairs = Results(path).pairs(metrics=["mean_fct_s"])
    assert not pairs.filter(
        (pl.col("traffic_load") == 0.4) & ((pl.col("scheme") == "ecmp") | (pl.col("other") == "ecmp"))
    ).height
    unsteady(path, "ecmp", [0.2])
    table = ranked(Results(path), metrics=["mean_fct_s"])
    assert all(set(one.schemes) == {"single_path", "spray"} and one.contest.blocks == 4 for one in table.rankings)
    assert table.left_out == ["ecmp is not ranked: at no point was it in a steady state with flows that count."]


def test_without_a_common_point_nothing_is_ranked(weft, tmp_path):
    path = sample.write_results(
        tmp_path / "r", {"scheme.name": ["ecmp", "spray"], "traffic.load": [0.2, 0.4]}, seeds=2, **SMALL
    )
    unsteady(path, "ecmp", [0.4])
    unsteady(path, "spray", [0.2])
    with pytest.warns(UserWarning, match="ecmp, load 0.4: unstable .*No pair has it") as said:
        assert Results(path).pairs().is_empty()
    assert said[0].filename == __file__
    with pytest.warns(UserWarning, match="load 0.2 is left out: .* under spray.*\n  .*\n  .*spray, .*: unstable"):
        assert Results(path).ranks().is_empty()
    ranks, pairs = (printed(weft("summary", path, option)) for option in ("--ranks", "--pairs"))
    assert "no point at which two schemes have values" in ranks and "spray, load 0.2; ecmp, load 0.4: unstable" in ranks
    assert "No two schemes have runs" in pairs and "spray, load 0.2; ecmp, load 0.4: unstable" in pairs


@pytest.mark.parametrize("ask", ["compare", "summary"])
def test_python_says_why_means_or_differences_are_missing(tmp_path, ask):
    sweep = {"scheme.name": ["ecmp", "spray"], "traffic.load": [0.2, 0.4]}
    several, single = (sample.write_results(tmp_path / str(n), sweep, seeds=n, **SMALL) for n in (2, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        getattr(Results(several), ask)(baseline="ecmp")
        getattr(Results(single), ask)()
    with pytest.warns(UserWarning, match="One seed: intervals and p-values are null. Run with 5 seeds") as said:
        getattr(Results(single), ask)(baseline="ecmp")
    assert said[0].filename == __file__
    unsteady(several, "ecmp", [0.4])
    with pytest.warns(UserWarning, match="ecmp, load 0.4: unstable in 2 of 2 runs: .*no difference from these runs"):
        getattr(Results(several), ask)(baseline="ecmp")
    alone = sample.write_results(tmp_path / "alone", {"scheme.name": ["ecmp"]}, seeds=2, **SMALL)
    with pytest.warns(UserWarning, match="Only ecmp has runs, so there is nothing to compare with it"):
        getattr(Results(alone), ask)(baseline="ecmp")


def test_pairs_and_ranks_say_that_no_seed_is_common_or_no_flow_counts(tmp_path):
    path = sample.write_results(tmp_path / "r", {"scheme.name": ["ecmp", "spray"]}, seeds=4, **SMALL)
    index = json.loads((path / "sweep.json").read_text())
    index["runs"] = [run for run in index["runs"] if (run["seed"] > 2) == (run["overrides"]["scheme.name"] == "ecmp")]
    (path / "sweep.json").write_text(json.dumps(index))
    for ask in ("pairs", "ranks"):
        with pytest.warns(UserWarning, match="No seed has runs of two schemes at one point"):
            assert getattr(Results(path), ask)().is_empty()
    for file in path.glob("runs/*/flows.parquet"):
        pl.read_parquet(file).with_columns(measured=pl.lit(False)).write_parquet(file)
    for ask in ("pairs", "ranks", "summary"):
        with pytest.warns(UserWarning, match="No flow started in the measurement window"):
            getattr(Results(path), ask)()


def test_the_page_and_files_draw_the_ranks(directory, tmp_path):
    page = report(directory, tmp_path / "page.html").read_text()
    assert page.count('<svg class="ranks"') == 6
    assert page.index('id="ranks-section"') < page.index('id="pairs-section"')
    assert "Mean ranks by p99 FCT: spray 1.00 (a)" in page
    files = plot(directory, tmp_path, formats=("svg", "png"), only=("ranks-fct-mean",))
    assert [file.name for file in files] == ["ranks-fct-mean.svg", "ranks-fct-mean.png"]
    drawn = files[0].read_text()
    assert all(name in drawn for name in SCHEMES) and drawn.count('class="ranks"') == 3


def test_few_seeds_or_schemes_have_no_diagram(tmp_path):
    for name, schemes, seeds in (("one", SCHEMES, 1), ("two", SCHEMES[:2], 3)):
        path = sample.write_results(tmp_path / name, {"scheme.name": schemes}, seeds=seeds, **SMALL)
        assert 'id="ranks-section"' not in report(path).read_text()
        reason = {"one": "There is one seed, and ranks need", "two": "There are 2 schemes, and diagrams rank 3 to 12"}
        with pytest.raises(Exception, match=f"there is no figure `ranks-fct-mean`: {reason[name]}"):
            plot(path, only=("ranks-fct-mean",))


def test_python_refuses_with_the_same_error(tmp_path):
    path = sample.write_results(tmp_path / "r", {"scheme.name": SCHEMES}, seeds=1, **SMALL)
    with pytest.raises(ResultsError, match="has one seed"):
        Results(path).ranks()
