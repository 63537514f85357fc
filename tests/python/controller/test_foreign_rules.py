"""Rules added by hand while the controller runs, with Open vSwitch."""

from __future__ import annotations

import pytest


@pytest.mark.long
def test_a_rule_that_is_added_by_hand_at_run_time_is_reported_and_weft_s_own_are_not(lab):
    seen = lab(
        """
        controller = Controller()
        with network(50_000_000) as net:
            controller.ready()
            pings(net)
            before = controller.log().count("has foreign rules")
            for switch, cookie in (("s1", "0x77"), ("s2", "0x5744000000000001")):
                rule = f"cookie={cookie},priority=1,ip,actions=drop"
                sh(f"ovs-ofctl -O OpenFlow13 add-flow unix:/run/openvswitch/{switch}.mgmt {rule}")
                until(cookie, lambda: f"cookies {cookie})" in controller.log())
            pings(net)
            tell(before=before, log=controller.log())
        """
    )
    assert seen["before"] == 0, seen["log"]
    assert seen["log"].count("has foreign rules (1, cookies") == 2, seen["log"]
