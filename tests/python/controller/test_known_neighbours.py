"""Address resolution between hosts, with Open vSwitch: without a controller, and with a lying host."""

from __future__ import annotations

import pytest

STALL_S = 8.0
"""A busy machine may delay a segment; failed address resolution delays it by ten seconds or more."""


@pytest.mark.long
def test_hosts_of_a_switch_without_its_management_connection_go_on_finding_each_other(lab):
    seen = lab(
        """
        from neighbours import Talking, Trickle, ask_often

        relay = Relay(PORT + 10, PORT)
        with steered() as (controller, net):
            net.switch._configure("set-controller", "s1", f"tcp:127.0.0.1:{PORT + 10}")
            until("s1 is back", lambda: controller.log().count("switch s1 is ready") == 2)
            controller.ready()
            ask_often(net)
            pings(net)
            with Trickle(net) as trickle, Talking(net) as talking:
                asks = lambda: {(one, kind): sum(counted(net, one, f"priority=22000,{kind}").values())
                                for one in ("s1", "s2") for kind in ("arp", "icmp6")}
                until("hosts ask by rules", lambda: all(asks().values()), state=asks)
                before = controller.show("status")["counters"]
                relay.lose()
                until("s1 is given up", lambda: "switch s1 disconnected" in controller.log())
                known = asks()
                more = lambda: all(now >= known[key] + 10 for key, now in asks().items())
                until("hosts have asked ten times more", more, state=asks)
                relay.find()
                until("s1 is back", lambda: controller.log().count("switch s1 is ready") == 3)
                looked(controller)
            after = controller.show("status")["counters"]
            changed = {name: after[name] - before[name] for name in ("rules_stale", "flows_moved", "flows_cut")}
            tell(sent=talking.sent, lost=talking.lost, stall=trickle.stall_s, changed=changed,
                 known=str(known), counters=after, log=controller.log())
        """,
    )
    assert min(seen["sent"].values()) > 25, seen["sent"]
    assert seen["lost"] == {key: [] for key in seen["sent"]}, (seen["known"], seen["counters"], seen["log"])
    assert seen["stall"] < STALL_S, seen["log"]
    assert seen["changed"] == dict.fromkeys(seen["changed"], 0), seen["log"]


def test_a_host_that_has_rules_for_its_own_address_cannot_claim_anothers(lab):
    seen = lab(
        """
        from forged import advertisement, arp_reply
        from neighbours import Hearing, Liar, address, ask_often

        with steered() as (controller, net):
            ask_often(net)
            liar = Liar(net)
            until("the liar's port is a host's", lambda: liar.ping(net.address("b")) == 3)
            six = liar.ping(address("six", 1, "b"))
            # The controller knows whose the addresses are that are claimed below.
            a, b = net.hosts["a"].MAC(), net.hosts["b"].MAC()
            ours, theirs = (net.address("a"), address("six", 1, "a")), (net.address("b"), address("six", 1, "b"))
            known = [pings(net, more=f"-I {ours[0]}"), pings(net, theirs[1], more=f"-6 -I {ours[1]}")]
            four, of_six = (b, theirs[0]), (b, theirs[1])
            true = [arp_reply(liar.MAC, four, liar.ADDRESS), advertisement(liar.MAC, of_six, liar.SIX)]
            false = [
                arp_reply(liar.MAC, four, ours[0]),
                arp_reply(liar.MAC, four, liar.ADDRESS, a),
                advertisement(liar.MAC, of_six, ours[1], liar.MAC),
                advertisement(liar.MAC, of_six, ours[1]),
                advertisement(liar.MAC, of_six, liar.SIX, a),
            ]
            with Hearing(net) as honest:
                liar.say(true)
                until("announcements reach b", lambda: set(true) <= set(honest.look()), state=lambda: honest.frames)
            own = [rule for rule in rules(net, "s1") if "priority=22000" in rule and liar.MAC in rule]
            with Hearing(net) as heard:
                # Once: when its owner does not defend it in time, an address is the liar's.
                liar.say(false)
                refuted = lambda: (controller.counter("addresses_disputed"), controller.counter("addresses_forged"))
                until("the claims are refuted", lambda: refuted() == (3, 2), state=refuted)
                # What was let through before it has reached b as well.
                until("b answers the liar", lambda: liar.ping(net.address("b")) == 3)
            counters = controller.show("status")["counters"]
            of_liar = lambda frames: [frame.hex() for frame in frames if frame[6:12].hex() == "026666666666"]
            tell(six=six, known=known, true=[frame.hex() for frame in true], honest=of_liar(honest.frames),
                 false=[frame.hex() for frame in false], heard=of_liar(heard.frames), own=own,
                 counters=counters, log=controller.log())
        """,
    )
    assert (seen["six"], seen["known"]) == (3, [5, 5]), seen["log"]
    # Announcements of its own address are forwarded by rules.
    assert set(seen["true"]) <= set(seen["honest"]), (seen["honest"], seen["counters"])
    assert any("arp_spa=10.0.0.66" in rule for rule in seen["own"]), seen["own"]
    assert any("nd_target=fd00::66" in rule for rule in seen["own"]), seen["own"]
    assert not set(seen["false"]) & set(seen["heard"]), (seen["heard"], seen["counters"])
    assert (seen["counters"]["addresses_disputed"], seen["counters"]["addresses_forged"]) == (3, 2), seen["counters"]
