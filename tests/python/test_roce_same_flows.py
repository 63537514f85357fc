"""``scripts/roce_same_flows.py`` compares RoCE's congestion controls with other simulators."""

from __future__ import annotations

import pytest

import roce_same_flows


def row(name, senders, rate):
    control = next(control for control in roce_same_flows.CONTROLS if control.name == name)
    return control, next(row for row in control.rows if (row.senders, row.rate) == (senders, rate))


@pytest.mark.parametrize(("name", "senders", "rate"), [("hpcc", 2, 100), ("swift", 10, 100), ("swift", 32, 10)])
def test_completion_times_are_those_of_the_other_simulator(tmp_path, name, senders, rate):
    control, expected = row(name, senders, rate)
    last, mean, _ = roce_same_flows.measured(control, expected, tmp_path)
    assert last == pytest.approx(expected.last, rel=0.005)
    assert mean == pytest.approx(expected.mean, rel=0.02)


def test_rows_have_both_figures_and_their_difference(tmp_path):
    line = roce_same_flows.line(*row("swift", 1, 100), tmp_path)
    assert line.startswith("| Swift | 1 | 100 Gbps | 339, 339 (0.0 %) | 339, 339 (0.0 %) | ")
