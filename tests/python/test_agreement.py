"""Simulation against emulation: the ratio of means over pairs, and its use in the claims."""

import numpy as np
import polars as pl
import pytest

from weft.studies.agreement import LABELS, cells, describe, ratio
from weft.studies.outcome import Verdict
from weft.studies.tcp_path.emulated import CLAIMS, _row


def test_a_ratio_of_means_covers_the_truth_about_as_often_as_it_says():
    rng = np.random.default_rng(1)
    covered = 0
    for _ in range(400):
        simulated = rng.exponential(1.0, 80)
        emulated = 1.2 * simulated * rng.lognormal(-0.005, 0.1, 80)
        found = ratio(emulated, simulated)
        covered += found.low <= 1.2 <= found.high
    assert 0.90 <= covered / 400 <= 0.98


def test_a_ratio_needs_pairs_and_one_pair_has_no_interval():
    assert ratio(np.array([]), np.array([])) is None
    assert ratio(np.array([1.0]), np.array([0.0])) is None
    one = ratio(np.array([3.0]), np.array([2.0]))
    assert (one.mean, one.half) == (1.5, None)


def table(effect):
    """Pairs of 60 flows per class, emulated ones slower by a factor per class; one emulated flow is unfinished."""
    rng = np.random.default_rng(2)
    rows = []
    for klass, factor in effect.items():
        for flow in range(60):
            fct = float(rng.uniform(0.5, 2.0))
            row = {"point": "load 0.4", "scheme": "tcp_path", "class": klass, "seed": 1, "flow": flow}
            row |= {"fct_s": fct, "throughput_bps": 1e6 / fct}
            slower = fct * factor if flow else None
            rows.append(
                row | {"fct_s_emulated": slower, "throughput_bps_emulated": None if slower is None else 1e6 / slower}
            )
    return pl.DataFrame(rows)


@pytest.mark.parametrize(
    ("elephant", "mouse", "verdicts"),
    [
        (1.05, 0.7, [Verdict.held, Verdict.held]),
        (1.30, 0.7, [Verdict.did_not_hold, Verdict.held]),
        (0.95, 1.0, [Verdict.held, Verdict.did_not_hold]),
    ],
)
def test_agreement_is_judged_by_class(elephant, mouse, verdicts):
    found = cells(table({"elephant": elephant, "rabbit": 1.0, "mouse": mouse}))
    rows = [_row(*claim, found) for claim in CLAIMS]
    assert [row.verdict for row in rows] == verdicts
    if elephant > 1.1:
        assert rows[0].measured == pytest.approx(30, abs=1)
        assert "elephants, tcp_path, load 0.4" in rows[0].note


def test_flows_that_did_not_end_in_both_are_counted_apart():
    (cell,) = cells(table({"rabbit": 1.0}))
    assert (cell.flows, cell.unpaired) == (59, 1)
    assert set(cell.ratios) == set(LABELS)
    assert "59 flows, 1 not finished in both" in describe(cell)


def test_nothing_to_compare_is_not_measured():
    row = _row(*CLAIMS[0], cells(table({"mouse": 1.0})))
    assert (row.verdict, row.measured) == (Verdict.not_measured, None)
