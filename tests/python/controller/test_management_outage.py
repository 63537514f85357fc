"""Switches lose their management for seconds and get it back, with Open vSwitch: no link is declared down for that.

TCP repeats lost segments at intervals that double: 6.2 s and 12.6 s after a cut. After 6.5 or 7 s, one direction of a
connection may resume seconds before the other.
"""

from __future__ import annotations

from lab import LINKS

CUTTING = """
    management = Management(["s1", "s2"])
    controller = management.controller("--fabric", str(FABRIC), port=PORT)

    def moved(net):
        for switch in ("s1", "s2"):
            net.switch._configure("set-controller", switch, *management.targets(switch, PORT))
        ready = lambda: controller.log().count("switch s1 is ready") + controller.log().count("switch s2 is ready")
        until("s1 and s2 are back", lambda: ready() == 4)

    def ask_often(net):
        # Without management, hosts find each other only by rules that earlier requests have left.
        for host in "ab":
            timers = f"net.ipv4.neigh.{net.interface(host)}"
            run_in(net, host, f"sysctl -qw {timers}.base_reachable_time_ms=1000 {timers}.delay_first_probe_time=1")

    def asked(net):
        return {switch: sum(counted(net, switch, "priority=22000,arp").values()) for switch in ("s1", "s2")}

    def back(net, cut_at):
        # By then, TCP has repeated everything, or the switches have connected again.
        time.sleep(max(0.0, cut_at + 13 - time.monotonic()))
        until("all switches are connected", lambda: all(map(net.switch.connected, net.dpids)))
        looked(controller)
"""


def test_no_link_is_down_and_no_ping_lost_when_edge_switches_lose_their_management_for_seconds(lab):
    seen = lab(
        CUTTING,
        """
        with steered(controller, host=ADDRESS) as (controller, net):
            moved(net)
            ask_often(net)
            before = controller.counter("cables_down")
            with Pinging(net) as pinging:
                until("hosts ask by rules", lambda: all(asked(net).values()), state=lambda: asked(net))
                calm(controller)
                cut_at = time.monotonic()
                management.cut("s1")
                management.cut("s2")
                time.sleep(6.5)
                management.heal("s2")
                time.sleep(0.5)
                management.heal("s1")
                back(net, cut_at)
            tell(down=controller.counter("cables_down") - before, sent=pinging.sent, missing=pinging.missing,
                 links=controller.counter("links_now"), log=controller.log())
        """,
    )
    assert seen["down"] == 0 and " is down: " not in seen["log"], seen["log"]
    assert seen["links"] == LINKS
    assert seen["missing"] == [] and seen["sent"] > 100, (seen["missing"], seen["log"])


def test_a_link_that_fails_silently_while_its_switch_has_no_management_is_down_after_that(lab):
    seen = lab(
        CUTTING,
        """
        with steered(controller, host=ADDRESS) as (controller, net):
            moved(net)
            cut_at = time.monotonic()
            management.cut("s1")
            time.sleep(3)
            # Everything that leaves s1 for s4 is lost, and no port goes down.
            switch = "unix:/run/openvswitch/s4.mgmt"
            sh(f"ovs-ofctl -O OpenFlow13 mod-port {switch} {net.port('s4', 's1')} no-receive")
            time.sleep(4)
            during = controller.log()
            management.heal("s1")
            until("the link is down", lambda: "LLDP frames in a row were lost" in controller.log())
            took = time.monotonic() - cut_at
            tell(during=during, took_s=took, log=controller.log())
        """,
    )
    assert " is down: " not in seen["during"], seen["log"]
    down = [line for line in seen["log"].splitlines() if " is down: " in line]
    assert len(down) == 1 and "s1 port 3 - s4 port 1" in down[0], seen["log"]
    assert seen["took_s"] < 40, seen["log"]
