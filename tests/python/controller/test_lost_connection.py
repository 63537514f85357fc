"""A switch that loses its connection to the controller, and nothing else, with Open vSwitch: nothing changes."""

from __future__ import annotations

import json

from steady_limits import STEADY_S


def test_transfers_and_pings_of_an_edge_switch_go_on_without_its_management_connection(lab):
    seen = json.loads(
        lab(
            """
            from steady import Pinging, Relay, Watch, keep_neighbours, rules

            controller = Controller("--fabric", str(FABRIC))
            relay = Relay(PORT + 10, PORT)
            with network() as net:
                controller.ready()
                net.switch._configure("set-controller", "s1", f"tcp:127.0.0.1:{PORT + 10}")
                until("s1 is back", lambda: controller.log().count("switch s1 is ready") == 2)
                controller.ready()
                pings(net)
                # The controller answers ARP, and hosts ask again now and then; without it they keep what they know.
                keep_neighbours(net)
                with flowing(net):
                    time.sleep(3)
                    of_flows = lambda one: [rule for rule in rules(net, one) if "priority=30000" in rule]
                    flows = lambda: {one: of_flows(one) for one in ("s1", "s2")}
                    before, counted = flows(), controller.show("status")["counters"]
                    with Watch(net) as usual:
                        time.sleep(8)
                    with Pinging(net) as pinging, Watch(net) as watch:
                        time.sleep(2)
                        relay.lose()
                        time.sleep(20)
                        during = flows()
                        gone = "switch s1 is gone" in controller.log()
                        relay.find()
                        until("s1 is back", lambda: controller.log().count("switch s1 is ready") == 3)
                        time.sleep(2)
                    after = flows()
                counters = controller.show("status")["counters"]
                changed = {name: counters[name] - counted[name] for name in
                           ("cables_down", "flows_moved", "flows_cut", "rules_stale", "rules_missing")}
                tell(before=before, during=during, after=after, gone=gone, sent=pinging.sent, row=pinging.row,
                     missing=pinging.missing, gaps=watch.gaps, usual=usual.gaps, changed=changed,
                     differences=controller.show("switches")["differences"], log=controller.log())
            """,
            limit_s=120,
        )
    )
    assert seen["gone"], seen["log"]
    assert seen["before"] == seen["during"] == seen["after"]
    assert seen["changed"] == dict.fromkeys(seen["changed"], 0), seen["log"]
    assert seen["row"] < 4 and seen["sent"] > 150, (seen["missing"], seen["log"])
    assert seen["differences"] == []
    assert max(seen["gaps"].values()) < STEADY_S + max(seen["usual"].values()), (seen["gaps"], seen["usual"])


def test_a_cable_that_is_cut_silently_is_still_found_by_its_missing_lldp(lab):
    seen = json.loads(
        lab(
            """
            controller = Controller("--fabric", str(FABRIC))
            with network() as net:
                controller.ready()
                pings(net)
                # Everything that leaves s1 for s4 is lost, and no port goes down.
                switch = "unix:/run/openvswitch/s4.mgmt"
                sh(f"ovs-ofctl -O OpenFlow13 mod-port {switch} {net.port('s4', 's1')} no-receive")
                lost = lambda: "LLDP frames in a row were lost" in controller.log()
                took = until("the cable is down", lost, 15)
                tell(took=took, log=controller.log())
            """
        )
    )
    assert seen["took"] < 6.5, seen["log"]
