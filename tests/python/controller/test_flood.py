"""One host against all others at its switch, with Open vSwitch: 20 000 frames a second that go to the controller."""

from __future__ import annotations

import pytest

KEPT = 0.95
"""Minimum share of other hosts' pings and connections that succeed."""
RATE = 20_000
"""Frames a second."""


LONG = [pytest.param(kind, marks=pytest.mark.long) for kind in ("plain", "capable", "join")]
"""Packets handled the same way as `capable`."""


@pytest.mark.parametrize("kind", ["lldp", *LONG])
def test_others_at_the_switch_keep_their_pings_and_connections_while_a_host_floods_it(lab, kind):
    seen = lab(
        f"""
        from flood import *

        path = Path("/run/crowded.fabric.toml")
        crowded_fabric(path, 50_000_000)
        controller = Controller("--fabric", str(path))
        with crowded_network(path) as net:
            controller.ready()
            accepting(net)
            for host in "acm":
                pings(net, source=host)
            made = frames(net, {kind!r})
            before = others(net, 3)
            earlier = controller.show("status")["counters"]
            with Attack(net, made, {RATE}):
                during = others(net, 8)
            later = controller.show("status")["counters"]
            after = others(net, 3)
            tell(before=before, during=during, after=after,
                 rise={{name: later[name] - earlier.get(name, 0) for name in later}},
                 rules=len(net.switch.rules("s1")), log=controller.log(),
                 hostile=hostile_port(net))
        """,
    )
    for when in ("before", "during", "after"):
        assert all(share >= KEPT for share in seen[when].values()), (when, seen)
    assert "is down" not in seen["log"], seen["log"]
    # The log names this port, and no other.
    named = [line for line in seen["log"].splitlines() if " exceeds the " in line or " than its switches " in line]
    assert named and all(seen["hostile"] in line for line in named), (seen["hostile"], seen["log"])
    assert len(named) <= 3 * 3, named
    assert seen["rise"]["transactions_late"] == 0
    # Connections of the others, and the attacker's confirmed ones until it is limited; up to six changes each.
    assert seen["rise"]["flow_mods"] < 6000, seen["rise"]
    if kind == "lldp":
        assert seen["rise"]["lldp_over_limit"] > 10 * seen["rise"]["lldp_foreign"] > 0, seen["rise"]
    else:
        assert seen["rise"]["flows_new"] < 1500, seen["rise"]
        # The attack is more than its port may ask for.
        assert seen["rise"]["flows_crowded"] > 100, seen["rise"]
