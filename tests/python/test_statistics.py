"""Intervals and differences against SciPy and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from weft.difference import corrected, difference
from weft.samples import Estimates, ecdf, quantile, slope
from weft.statistics import Estimate, estimate, paired_difference, paired_ratio, relative_difference

values = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30)


@given(values)
def test_the_interval_is_that_of_scipy(data):
    got = estimate(data)
    error = stats.sem(data)
    if error == 0:
        assert (got.low, got.high) == (got.mean, got.mean)
        return
    low, high = stats.t.interval(0.95, len(data) - 1, loc=np.mean(data), scale=error)
    assert (got.mean, got.low, got.high) == pytest.approx((np.mean(data), low, high), rel=1e-9, abs=1e-6)


def test_three_seeds_by_hand():
    # mean 2, s = 1, t(0.975, 2) = 4.302653, half = 4.302653 / sqrt(3)
    got = estimate([1.0, 2.0, 3.0])
    assert got.mean == 2.0
    assert got.half == pytest.approx(2.484138, abs=1e-6)


@given(st.lists(st.tuples(st.floats(-1e3, 1e3), st.floats(1e6, 1e6 + 1)), min_size=2, max_size=12))
def test_intervals_of_arrays_are_those_of_their_elements(seeds):
    got = Estimates((2,))
    for values in seeds:
        got.add(np.array(values))
    for i, data in enumerate(zip(*seeds, strict=True)):
        known = estimate(data)
        assert (got.mean[i], got.half[i]) == pytest.approx((known.mean, known.half), rel=1e-9, abs=1e-8)


def test_arrays_of_one_seed_have_no_interval():
    got = Estimates((2,))
    got.add(np.array([1.0, 2.0]))
    assert got.mean.tolist() == [1, 2]
    assert got.half is None


def test_one_seed_has_a_mean_and_no_interval():
    assert estimate([4.0]) == Estimate(4.0, None, None, 1)
    assert estimate([4.0]).half is None
    assert not estimate([4.0]).excludes_zero


def test_equal_values_of_several_seeds_have_no_interval_to_show():
    got = estimate([0.1, 0.1, 0.1])
    assert (got.mean, got.low, got.high, got.half) == (0.1, 0.1, 0.1, 0)
    assert got.is_fixed
    assert got.ends == (None, None) and got.plus_minus is None
    assert got.as_dict() == {"mean": 0.1, "low": None, "high": None}
    assert not estimate([0.1]).is_fixed
    varied = estimate([1.0, 2.0])
    assert not varied.is_fixed and varied.ends == (varied.low, varied.high)


@pytest.mark.parametrize(("own", "text", "p"), [(0.602, "−39.8 %", None), (1.0, "0.0 %", 1.0), (0.0, "−1.00 s", None)])
def test_the_same_difference_of_all_seeds_has_neither_interval_nor_star(own, text, p):
    rows = [{"fct": difference({1: own, 2: own, 3: own}, {1: 1.0, 2: 1.0, 3: 1.0})}]
    assert corrected(rows) == (0 if p is None else 1)
    found = rows[0]["fct"]
    assert (found.text("s"), found.interval("s"), found.p) == (text, "", p)
    assert not found.significant and not found.vague and found.verdict(-1) == ""


def test_what_was_not_measured_is_left_out():
    assert estimate([None, float("nan")]) is None
    assert estimate([None, 2.0, 4.0]).n == 2


@given(st.lists(st.tuples(st.floats(1, 1e3), st.floats(1, 1e3)), min_size=2, max_size=20))
def test_the_paired_difference_is_the_paired_t_interval_of_scipy(pairs):
    a, b = zip(*pairs, strict=True)
    got = paired_difference(dict(enumerate(a)), dict(enumerate(b)))
    assume(np.ptp(np.subtract(a, b)) >= 1e-9)
    interval = stats.ttest_rel(a, b).confidence_interval(0.95)
    assert (got.low, got.high) == pytest.approx((interval.low, interval.high), rel=1e-6, abs=1e-6)


def test_pairs_are_matched_by_seed_and_not_by_position():
    got = paired_difference({3: 30.0, 1: 10.0, 9: 1.0}, {1: 9.0, 3: 28.0, 7: 0.0})
    assert (got.mean, got.n) == (1.5, 2)


def test_a_common_seed_effect_does_not_widen_the_paired_interval():
    base = {seed: 100.0 * seed for seed in range(1, 6)}
    treated = {seed: value - 5.0 for seed, value in base.items()}
    got = paired_difference(treated, base)
    assert (got.mean, got.low, got.high) == pytest.approx((-5.0, -5.0, -5.0))


def test_the_paired_ratio_is_not_moved_by_rounds_that_are_slow_for_both():
    got = paired_ratio({1: 1.0, 2: 20.0, 3: 300.0, 4: 5.0}, {1: 2.0, 2: 40.0, 3: 600.0})
    assert (got.mean, got.low, got.high, got.n) == pytest.approx((0.5, 0.5, 0.5, 3))
    # The logarithms of 2 and 8 have the mean log 4; the half width is t(0.95, 1) = 6.313752 times log 2.
    wide = paired_ratio({1: 2.0, 2: 8.0}, {1: 1.0, 2: 1.0}, 0.90)
    assert (wide.mean, wide.low, wide.high) == pytest.approx((4.0, 4 / 2**6.313752, 4 * 2**6.313752), rel=1e-5)
    assert paired_ratio({1: 0.0}, {1: 1.0}) is None
    assert paired_ratio({1: 3.0}, {1: 1.0}) == Estimate(pytest.approx(3.0), None, None, 1)


@given(st.lists(st.tuples(st.floats(1e-3, 1e3), st.floats(1e-3, 1e3)), min_size=2, max_size=20))
def test_a_percentage_never_reaches_below_minus_100_and_is_the_inverse_the_other_way_round(pairs):
    own, baseline = (dict(enumerate(values)) for values in zip(*pairs, strict=True))
    there, back = difference(own, baseline), difference(baseline, own)
    assert there.ratio.low > 0
    assert there.change.low >= -1
    assert (there.ratio.low, there.ratio.high) == pytest.approx((1 / back.ratio.high, 1 / back.ratio.low))


def test_where_the_interval_contains_zero_no_difference_is_claimed():
    # As a share of the mean baseline the difference is -97.7 %, with a t interval of -157 % to -38 %.
    clear = difference({1: 0.02, 2: 0.03, 3: 0.022}, {1: 1.0, 2: 1.3, 3: 0.8})
    assert (clear.significant, clear.verdict(-1), clear.verdict(+1)) == (True, "good", "bad")
    assert clear.text("s") == "−97.7 %"
    assert clear.interval("s") == "−98.4 % to −96.5 %"
    vague = difference({1: 0.9, 2: 1.2, 3: 1.1}, {1: 1.0, 2: 1.0, 3: 1.2})
    assert (vague.significant, vague.verdict(-1), vague.text("s")) == (False, "", "n.s.")
    one = difference({1: 0.5}, {1: 1.0})
    assert (one.significant, one.verdict(-1), one.text("s"), one.interval("s")) == (None, "", "−50.0 %", "")


def test_counts_that_are_zero_in_some_run_are_compared_by_their_difference():
    drops = difference({1: 12.0, 2: 14.0, 3: 13.0}, {1: 0.0, 2: 1.0, 3: 1.0})
    assert drops.ratio is None
    assert drops.text("count") == "+12.3"
    assert drops.interval("count") == "+10.9 to +13.8"
    assert difference({1: 1.0, 2: 0.0}, {1: 0.0, 2: 1.0}).text("count") == "n.s."
    assert difference({1: None}, {1: 1.0}) is None


def test_the_difference_of_a_share_is_always_in_points():
    late = {1: 0.25, 2: 0.27, 3: 0.275}
    apart = difference(late, dict.fromkeys(late, 0.0), kind="share")
    assert (apart.text("share"), apart.interval("share")) == ("+26.5 points", "+23.2 points to +29.8 points")
    assert difference({1: 0.0}, {1: 0.02}, kind="share").text("share") == "−2.00 points"
    positive = difference({1: 0.03}, {1: 0.02}, kind="share")
    assert (positive.text("share"), positive.ratio) == ("+1.00 points", None)


def test_a_quantile_is_interpolated_as_in_numpy_polars_and_rust():
    ten = [float(value) for value in range(10, 0, -1)]
    assert [quantile(ten, share) for share in (0.0, 0.5, 1.0)] == [1.0, 5.5, 10.0]
    assert quantile(ten, 0.99) == pytest.approx(9.91)
    assert quantile([7.0], 0.99) == 7.0


def test_the_relative_difference_is_a_share_of_the_mean_baseline():
    got = relative_difference({1: 90.0, 2: 180.0}, {1: 100.0, 2: 200.0})
    assert got.mean == pytest.approx(-0.1)
    assert relative_difference({1: 1.0, 2: 2.0}, {1: 0.0, 2: 0.0}) is None
    assert relative_difference({1: 1.0}, {}) is None


def test_scaling_by_a_negative_factor_keeps_low_below_high():
    got = Estimate(1.0, 0.5, 1.5, 3).scaled(-100)
    assert (got.mean, got.low, got.high) == (-100.0, -150.0, -50.0)


def test_the_slope_is_that_of_least_squares():
    x, y = [0, 1, 2, 5], [1.0, 2.5, 2.0, 7.0]
    assert slope(x, y) == pytest.approx(np.polyfit(x, y, 1)[0])


@given(st.lists(st.floats(0, 1e9), min_size=1, max_size=2000), st.integers(10, 200))
def test_a_thinned_distribution_never_lies(data, limit):
    points = ecdf(data, limit)
    assert len(points) <= max(limit, len(set(data)) if len(data) <= limit else limit)
    for value, share in points[:: max(1, len(points) // 20)]:
        assert np.mean(np.array(data) <= value) >= share - 1e-12
        assert np.mean(np.array(data) < value) < share + 1e-12
    assert points[-1] == (max(data), 1.0)
    assert [p[0] for p in points] == sorted(p[0] for p in points)


def test_a_thinned_distribution_keeps_its_three_largest_values():
    data = np.random.default_rng(1).pareto(1.5, 100_000)
    points = ecdf(data, 150)
    assert [value for value, _ in points[-3:]] == sorted(data)[-3:]
    assert len(points) <= 150
    value, share = next(point for point in points if point[1] >= 0.99)
    assert share < 0.993
    assert value == pytest.approx(np.quantile(data, share), rel=1e-3)
