"""A controller is replaced by another, with Open vSwitch and the kernel's MPTCP: traffic continues."""

from __future__ import annotations

import pytest

from lab import BUSY
from steady_limits import MIDDLES, uninterrupted

OLD_LAYOUT = """
def as_the_first_layout_had_it(net):
    # The same rules with the cookies of Weft 0.1: kinds 0 to 5, nothing of connections.
    for switch in ("s1", "s2", "s3", "s4", "s5", "s6"):
        found = []
        for number, rule in enumerate(rules(net, switch)):
            cookie = int(re.search(r"cookie=(0x[0-9a-f]+)", rule)[1], 16)
            flow = 4 << 44 | (cookie >> 20 & 1) << 24
            kinds = {13: flow, 14: flow, 15: flow, 9: 2 << 44, 10: 3 << 44, 11: 5 << 44}
            kind = kinds.get(cookie >> 44 & 15, 0)
            found.append(re.sub(r"cookie=0x[0-9a-f]+", f"cookie={0x5745 << 48 | kind | number:#x}", rule))
        Path("/run/rules").write_text("\\n".join(found))
        sh(f"ovs-ofctl -O OpenFlow13 add-flows unix:/run/openvswitch/{switch}.mgmt /run/rules")
"""


@pytest.mark.parametrize(
    "how", ["killed", *(pytest.param(how, marks=pytest.mark.long) for how in ("ended", "upgraded"))]
)
def test_a_controller_that_is_started_again_costs_no_frame_and_every_path_goes_on(lab, how):
    seen = lab(
        OLD_LAYOUT,
        f"how = {how!r}\n",
        """
        with steady() as (controller, net):
            # Of the subflows and of their paths; those of pings idle out.
            wanted = "priority=(30000,tcp|50000)"
            of_flows = lambda switch: [rule for rule in rules(net, switch) if re.search(wanted, rule)]
            bare = lambda rule: re.sub("cookie=[^,]*,", "", rule)
            found = lambda: {switch: sorted(map(bare, of_flows(switch))) for switch in net.dpids}
            before = found()
            with Probing(net, subflows_of(controller)) as probing:
                controller.stop(15 if how == "ended" else 9)
                if how == "upgraded":
                    as_the_first_layout_had_it(net)
                leave_behind(net)
                unsteered(net)
                controller.start()
                controller.ready()
                swept(net)
            kept = found()
            counters, middles = controller.show("status")["counters"], controller.middles()
            after = carried(net)
            old = [one for switch in net.dpids for one in rules(net, switch) if re.search(r"cookie=0x5745[0-7]", one)]
            had = controller.spreads().count(list(MIDDLE))
            with Flowing(net):
                until("a new connection has four paths", lambda: controller.spreads().count(list(MIDDLE)) > had,
                      state=controller.spreads)
            tell(probes=probing.row(), before=before, kept=kept, after=after, middles=middles, counters=counters,
                 old=old, log=controller.log())
        """,
    )
    uninterrupted(seen["probes"])
    assert seen["kept"] == seen["before"], "rules are unchanged except for their cookies"
    assert all(rate > BUSY for rate in seen["after"].values()), seen["after"]
    # Cookies of the first layout do not identify the connection of a flow; each flow keeps its path.
    assert seen["middles"] == ([] if how == "upgraded" else MIDDLES), seen["log"]
    counters = seen["counters"]
    assert counters["flows_resumed"] >= 4
    for name in ("flows_new", "flows_renewed", "flows_cut", "flows_moved"):
        assert counters[name] == 0, (name, counters)
    assert seen["old"] == []
    assert "rules found" in seen["log"]


@pytest.mark.long
def test_a_controller_that_stands_by_takes_over(lab):
    seen = lab(
        """
        first = Controller("--fabric", str(FABRIC))
        second = Controller("--fabric", str(FABRIC), "--role", "standby", port=PORT + 1)
        with steady(first, controllers=(PORT, PORT + 1)) as (_, net):
            # A switch that was refused tries again after eight seconds at most.
            waits = lambda one: one.log().count("standing by for switch") >= 6
            flows = subflows_of(first)
            probes, used = [], []
            waited = second.counter("takeovers")
            for number in (9, 19):
                master, standby = (first, second) if number == 9 else (second, first)
                with Probing(net, flows) as probing:
                    until("the other stands by", lambda: waits(standby))
                    leave_behind(net)
                    master.process.send_signal(number)
                    until("the other steers", lambda: standby.show("status")["status"]["switches"] == 6)
                    standby.ready()
                    swept(net)
                probes.append(probing.row())
                used.append([carried(net), standby.middles()])
                if number == 9:
                    master.process.wait()
                    master.log_file.rename("/run/killed.log")
                    first = Controller("--fabric", str(FABRIC), "--role", "standby")
                else:
                    master.process.send_signal(18)
                    # It finds another one active, and leaves the switches to it.
                    until("it stands by", lambda: master.show("status")["status"]["switches"] == 0)
            after = pings(net)
            tell(waited=waited, probes=probes, used=used, after=after,
                 log=first.log() + second.log())
        """,
    )
    assert seen["waited"] == 0, seen["log"]
    for probes in seen["probes"]:
        uninterrupted(probes)
    for rates, middles in seen["used"]:
        assert all(rate > BUSY for rate in rates.values()), rates
        assert middles == MIDDLES, seen["log"]
    assert seen["after"] == 5


@pytest.mark.long
def test_rules_that_somebody_deletes_are_installed_again(lab):
    seen = lab(
        """
        with steered() as (controller, net):
            pings(net)
            carried(net)
            lasting = lambda switch: [rule for rule in rules(net, switch) if "idle_timeout" not in rule]
            before = {switch: lasting(switch) for switch in net.dpids}
            for switch in net.dpids:
                sh(f"ovs-ofctl -O OpenFlow13 del-flows unix:/run/openvswitch/{switch}.mgmt")
            until("the rules are back", lambda: all(lasting(one) == before[one] for one in net.dpids))
            tell(again=pings(net), rates=carried(net), repaired=controller.counter("rules_repaired"),
                 down=controller.counter("cables_down"), log=controller.log())
        """,
    )
    assert seen["again"] == 5
    assert seen["repaired"] >= 6 * 9
    assert all(rate > BUSY for rate in seen["rates"].values()), seen["rates"]
    assert "s1 had lost" in seen["log"]
