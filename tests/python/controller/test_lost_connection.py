"""A switch loses only its connection to the controller, with Open vSwitch: forwarding does not change."""

from __future__ import annotations

import pytest

from lab import BUSY
from steady_limits import uninterrupted


@pytest.mark.long
def test_transfers_and_pings_of_an_edge_switch_go_on_without_its_management_connection(lab):
    seen = lab(
        """
        relay = Relay(PORT + 10, PORT)
        with steady() as (controller, net):
            net.switch._configure("set-controller", "s1", f"tcp:127.0.0.1:{PORT + 10}")
            until("s1 is back", lambda: controller.log().count("switch s1 is ready") == 2)
            flows = subflows_of(controller)
            of_flows = lambda one: [rule for rule in rules(net, one) if "priority=30000" in rule]
            found = lambda: {one: of_flows(one) for one in ("s1", "s2")}
            with Probing(net, flows) as probing, Pinging(net) as pinging:
                before, counted = found(), controller.show("status")["counters"]
                relay.lose()
                until("s1 is given up", lambda: "switch s1 disconnected" in controller.log())
                looked(controller)
                during = found()
                relay.find()
                until("s1 is back", lambda: controller.log().count("switch s1 is ready") == 3)
                looked(controller)
                after = found()
            counters = controller.show("status")["counters"]
            changed = {name: counters[name] - counted[name] for name in
                       ("cables_down", "flows_moved", "flows_cut", "rules_stale", "rules_missing")}
            after_all = carried(net)
            tell(before=before, during=during, after=after, sent=pinging.sent, row=pinging.row,
                 missing=pinging.missing, probes=probing.row(), changed=changed, carried=after_all,
                 differences=controller.show("switches")["differences"], log=controller.log())
        """,
    )
    uninterrupted(seen["probes"])
    assert seen["before"] == seen["during"] == seen["after"]
    assert seen["changed"] == dict.fromkeys(seen["changed"], 0), seen["log"]
    assert seen["row"] < 4 and seen["sent"] > 50, (seen["missing"], seen["log"])
    assert seen["differences"] == []
    assert all(rate > BUSY for rate in seen["carried"].values()), seen["carried"]


def test_a_cable_that_is_cut_silently_is_still_found_by_its_missing_lldp(lab):
    seen = lab(
        """
        with steered() as (controller, net):
            pings(net)
            # Everything that leaves s1 for s4 is lost, and no port goes down.
            switch = "unix:/run/openvswitch/s4.mgmt"
            sh(f"ovs-ofctl -O OpenFlow13 mod-port {switch} {net.port('s4', 's1')} no-receive")
            lost = lambda: "LLDP frames in a row were lost" in controller.log()
            until("the cable is down", lost)
            tell(log=controller.log())
        """
    )
    assert "s4" in next(line for line in seen["log"].splitlines() if "LLDP frames in a row were lost" in line)
