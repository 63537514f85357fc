"""Rules added by hand while the controller runs, with Open vSwitch."""

from __future__ import annotations

import pytest

LIMIT_S = 10
"""Time limit for the log message."""


@pytest.mark.long
def test_a_rule_that_is_added_by_hand_at_run_time_is_reported_within_ten_seconds_and_weft_s_own_are_not(lab):
    seen = lab(
        f"""
        controller = Controller()
        with network(50_000_000) as net:
            controller.ready()
            pings(net)
            before = controller.log().count("has foreign rules")
            took = []
            for switch, cookie in (("s1", "0x77"), ("s2", "0x5744000000000001")):
                rule = f"cookie={{cookie}},priority=1,ip,actions=drop"
                sh(f"ovs-ofctl -O OpenFlow13 add-flow unix:/run/openvswitch/{{switch}}.mgmt {{rule}}")
                took.append(until(cookie, lambda: f"cookies {{cookie}})" in controller.log(), {LIMIT_S}))
            pings(net)
            tell(before=before, took=took, log=controller.log())
        """
    )
    assert seen["before"] == 0, seen["log"]
    assert max(seen["took"]) <= LIMIT_S
    assert seen["log"].count("has foreign rules (1, cookies") == 2, seen["log"]
