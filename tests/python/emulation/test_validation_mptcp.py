"""The simulated Multipath TCP compared with this machine's kernel, on two cases of `validation/mptcp`."""

from __future__ import annotations

import pytest

import needs
import weft
from validation.mptcp.cases import BY_NAME, CASES, LINK_BPS, fabric
from validation.mptcp.emulated import check, emulate
from validation.mptcp.series import back_s, mean_bps, share, stopped_s
from validation.mptcp.simulated import scenario, simulate


@pytest.fixture
def both(root):
    """Runs a case with the kernel and in the simulator."""
    needs.passed(check)
    return lambda name: (emulate(BY_NAME[name])["series"]["mptcp"], simulate(BY_NAME[name], 1)[0]["mptcp"])


def test_two_subflows_on_two_paths_have_both_links(both):
    series, ours = both("disjoint-2")
    assert mean_bps(ours, end_s=9.0) == pytest.approx(2 * LINK_BPS, rel=0.01)
    # A machine that stalls lowers the rate of that time; nothing raises it above that of the links.
    kernel = max(mean_bps(series, start_s, start_s + 2.0) for start_s in range(1, 8))
    assert kernel == pytest.approx(2 * LINK_BPS, rel=0.1)


def test_a_path_that_dies_is_left_after_the_same_time(both):
    one = BY_NAME["cut-stale-4"]
    series, ours = both(one.name)
    ours = back_s(ours, one.cut_s)
    assert ours is not None
    assert 0.3 < ours < 1.0
    kernel = back_s(series, one.cut_s)
    for _ in range(2):
        # The kernel's time depends on when its timer was set before the cut, and on the subflows' queued data. A busy
        # machine can only add to it.
        if kernel is not None and abs(kernel - ours) < 0.5:
            break
        kernel = back_s(emulate(one)["series"]["mptcp"], one.cut_s)
    assert kernel is not None
    assert abs(kernel - ours) < 0.5


@pytest.mark.parametrize("one", CASES, ids=lambda one: one.name)
def test_every_case_is_a_fabric_and_a_scenario_in_both_worlds(one, tmp_path):
    for link_each in (False, True):
        file = tmp_path / "fabric.toml"
        file.write_text(fabric(one, link_each=link_each))
        built = weft.fabric(file)
        assert [host.name for host in built.hosts] == one.hosts
        sent = [link for link in built.links if link.source == "a"]
        assert len(sent) == (one.subflows if link_each else 1)
    assert len(weft.Scenario.from_text(scenario(one, 2), one.name, tmp_path).points()) == 2


def test_what_a_series_says_of_a_cut_and_of_shares():
    full, half = LINK_BPS / 80, LINK_BPS / 160
    series = [(0.1 * n, 2 * full) for n in range(1, 51)]
    series += [(5.0 + 0.1 * n, 0.0) for n in range(1, 5)] + [(5.5, half)]
    series += [(5.5 + 0.1 * n, full) for n in range(1, 21)]
    assert stopped_s(series, 5.0) == pytest.approx(0.4)
    assert back_s(series, 5.0) == pytest.approx(0.4)
    assert back_s(series[:56], 5.0) is None
    assert mean_bps(series, 3.0, 5.0) == pytest.approx(2 * LINK_BPS)
    assert share({"mptcp": series[:50], "tcp": [(end, full) for end, _ in series[:50]]}, 5.0) == pytest.approx(2 / 3)
