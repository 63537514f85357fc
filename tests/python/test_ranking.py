"""Ranks over blocks and groups that cannot be told apart, against SciPy, a published example and by brute force."""

from __future__ import annotations

import math
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from weft.ranking import Duel, contest, groups, letters, told_apart
from weft.statistics import friedman

DEMSAR = {
    "C4.5": [4, 1, 4, 4, 4, 1, 3, 2.5, 4, 2.5, 4, 3, 4, 3],
    "C4.5+m": [3, 2, 1, 1, 2, 2.5, 2, 2.5, 3, 2.5, 2.5, 2, 1, 1],
    "C4.5+cf": [2, 3, 2, 3, 3, 4, 4, 4, 2, 2.5, 1, 4, 2, 4],
    "C4.5+m+cf": [1, 4, 3, 2, 1, 2.5, 1, 1, 1, 2.5, 2.5, 1, 3, 2],
}
"""Ranks on 14 data sets: table 6 of Demšar, Journal of Machine Learning Research 7 (2006)."""


def duels(values, points=1, left=None):
    """Duels of schemes with a value per block; `points` blocks after another share a seed."""
    number = len(next(iter(values.values())))
    return {
        (at // points, at % points): {
            (one, other): Duel(
                values[one][at], values[other][at], *((left or {}).get(name, 0) for name in (one, other))
            )
            for one, other in combinations(values, 2)
        }
        for at in range(number)
    }


def test_mean_ranks_and_friedmans_test_are_those_of_demsar():
    found = contest(list(DEMSAR), duels(DEMSAR), -1)
    ranks = {"C4.5+m+cf": 1.964, "C4.5+m": 2.0, "C4.5+cf": 2.893, "C4.5": 3.143}
    assert list(found.ranks) == list(ranks)
    assert found.ranks == pytest.approx(ranks, abs=5e-4)
    assert (found.blocks, found.seeds) == (14, 14)
    assert found.overall == pytest.approx(stats.friedmanchisquare(*DEMSAR.values()).pvalue)
    # The paper does not correct for ties.
    spread = sum((rank - 2.5) ** 2 for column in DEMSAR.values() for rank in column)
    without = stats.chi2.isf(found.overall, 3) * spread / (14 * 4 * 15 / 12)
    assert without == pytest.approx(9.28, abs=0.01)


@given(st.integers(2, 5).flatmap(lambda k: st.lists(st.lists(st.integers(0, 3), min_size=k, max_size=k), min_size=2)))
def test_friedmans_test_is_that_of_scipy_with_ties(blocks):
    ranks = [list(stats.rankdata(block)) for block in blocks]
    if len(blocks[0]) > 2 and any(len(set(block)) > 1 for block in blocks):
        assert friedman(ranks) == pytest.approx(stats.friedmanchisquare(*zip(*blocks, strict=True)).pvalue, abs=1e-9)
    elif all(len(set(block)) == 1 for block in blocks):
        assert friedman(ranks) == 1.0


def test_friedmans_test_needs_two_blocks_and_two_treatments():
    assert friedman([[1, 2]]) is None
    assert friedman([[1], [1]]) is None


@given(st.lists(st.tuples(*[st.integers(1, 9)] * 3), min_size=2, max_size=8), st.sampled_from([-1, 1]))
def test_ranks_are_those_of_scipy(blocks, better):
    values = {name: list(column) for name, column in zip("abc", zip(*blocks, strict=True), strict=True)}
    found = contest("abc", duels(values), better)
    ranks = [stats.rankdata([-better * value for value in block]) for block in blocks]
    assert [found.ranks[name] for name in "abc"] == pytest.approx(list(sum(ranks) / len(blocks)))


def test_a_seed_is_one_observation_however_many_points_it_has():
    values = {
        "a": [1.0, 4.0, 1.1, 3.0, 1.3, 5.0],
        "b": [1.2, 4.1, 1.5, 4.0, 1.4, 5.6],
        "c": [2.0, 8.0, 2.4, 7.0, 2.0, 9.0],
    }
    found = contest("abc", duels(values, points=2), -1)
    assert (found.blocks, found.seeds) == (6, 3)
    logs = [math.log(a / b) for a, b in zip(values["a"], values["b"], strict=True)]
    means = [(logs[at] + logs[at + 1]) / 2 for at in (0, 2, 4)]
    assert found.tests["a", "b"] == pytest.approx(stats.ttest_1samp(means, 0).pvalue)
    repeated = contest("abc", duels({name: [v for v in of for _ in range(9)] for name, of in values.items()}, 18), -1)
    assert repeated.tests == pytest.approx(found.tests)
    assert repeated.overall == pytest.approx(found.overall)


def test_blocks_without_all_pairs_do_not_count():
    found = duels({"a": [1.0, 2.0, 3.0], "b": [2.0, 3.0, 5.0], "c": [3.0, 4.0, 9.0]})
    del found[1, 0]["a", "c"]
    assert contest("abc", found, -1).blocks == 2
    assert contest("abc", {(0, 0): {}}, -1) is None


def test_a_side_with_more_unfinished_flows_neither_wins_nor_is_told_apart():
    values = {"a": [1.0, 1.1, 1.2], "b": [2.0, 2.1, 2.3], "c": [4.0, 4.5, 4.4]}
    clean = contest("abc", duels(values), -1)
    assert clean.ranks == {"a": 1, "b": 2, "c": 3} and not clean.undecided
    left = contest("abc", duels(values, left={"a": 5, "c": 1}), -1)
    assert left.ranks == {"a": 2, "b": 1.5, "c": 2.5} or left.ranks == {"b": 1.5, "a": 2, "c": 2.5}
    assert left.undecided == {("a", "b"), ("a", "c")}
    assert told_apart(left, dict.fromkeys(left.tests, 0.0)) == {("b", "c")}


graphs = st.integers(2, 7).flatmap(
    lambda size: st.tuples(
        st.just([chr(97 + at) for at in range(size)]),
        st.frozensets(st.sampled_from(list(combinations([chr(97 + at) for at in range(size)], 2)))),
    )
)


@given(graphs)
def test_two_schemes_share_a_letter_exactly_if_they_cannot_be_told_apart(graph):
    schemes, apart = graph
    found = groups(schemes, apart)
    shown = letters(schemes, found)
    for pair in combinations(schemes, 2):
        assert bool(set(shown[pair[0]]) & set(shown[pair[1]])) == (pair not in apart)
    assert all(shown.values())
    for one in found:
        assert not any(set(one) < set(other) for other in found)


def test_groups_are_in_the_order_of_their_best_schemes():
    assert groups(["a", "b", "c"], frozenset({("a", "c")})) == [["a", "b"], ["b", "c"]]
    assert groups(["a", "b", "c"], frozenset({("a", "b"), ("b", "c"), ("a", "c")})) == [["a"], ["b"], ["c"]]
    assert letters(["x"], [["x"]] * 28)["x"].endswith("z(27)(28)")
