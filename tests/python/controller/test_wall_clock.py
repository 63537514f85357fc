"""Controllers whose wall clocks differ by an hour or are set by one, with Open vSwitch: roles depend on no clock."""

from __future__ import annotations

import pytest

from steady_limits import MIDDLES, uninterrupted

CLOCKED = """
    clocks = [WallClock("first"), WallClock("second")]

    def clocked(number, *words):
        environment = clocks[number].environment
        return Controller("--fabric", str(FABRIC), *words, port=PORT + number, environment=environment)
"""


@pytest.mark.long
def test_a_standby_an_hour_behind_takes_over_and_keeps_all_switches_when_one_joins_later(lab):
    seen = lab(
        CLOCKED,
        """
        clocks[1].set(-HOUR_S)
        first, second = clocked(0), clocked(1, "--role", "standby")
        with steady(first, controllers=(PORT, PORT + 1)) as (_, net):
            until("the second stands by", lambda: stands_by(second))
            # The second does not know s6, which has seen the first's generation ids.
            net.switch._configure("set-controller", "s6", f"tcp:127.0.0.1:{PORT}")
            until("s6 leaves it", lambda: "switch s6 disconnected" in second.log())
            until("the first leads", lambda: leads(first))
            until("four subflows have four paths", lambda: first.middles() == list(MIDDLE))
            with Probing(net, subflows_of(first)) as probing:
                first.stop(9)
                until("the second leads five switches", lambda: leads(second, 5))
                net.switch._configure("set-controller", "s6", f"tcp:127.0.0.1:{PORT + 1}")
                until("the second leads six switches", lambda: leads(second))
                second.ready()
                looked(second)
            tell(probes=probing.row(), middles=second.middles(), leads=leads(second), rates=carried(net),
                 refused=second.counter("switches_taken_over"), differences=second.show("switches")["differences"],
                 disconnected=second.log().count(" disconnected: "), log=second.log())
        """,
    )
    uninterrupted(seen["probes"])
    assert seen["leads"] and seen["middles"] == MIDDLES, seen["log"]
    # Only s6 refuses the second's ids, once.
    assert (seen["refused"], seen["disconnected"]) == (1, 1), seen["log"]
    assert seen["differences"] == [], seen["log"]


@pytest.mark.long
def test_clocks_that_are_set_by_an_hour_change_no_role_and_a_master_restarted_an_hour_back_leads_again(lab):
    seen = lab(
        CLOCKED,
        """
        first, second = clocked(0), clocked(1, "--role", "standby")
        with steady(first, controllers=(PORT, PORT + 1)) as (_, net):
            until("the second stands by", lambda: stands_by(second))
            with Probing(net, subflows_of(first)) as probing:
                for seconds in (HOUR_S, 0, -HOUR_S, 0):
                    for clock in clocks:
                        clock.set(seconds)
                        looked(first)
                roles = [leads(first), stands_by(second)]
                changes = [first.counter("switches_taken_over"), second.counter("takeovers")]
                # The standby leads with the clock of now; the master then returns an hour back, and alone.
                first.stop(9)
                until("the second leads", lambda: leads(second))
                second.stop(9)
                unsteered(net)
                clocks[0].set(-HOUR_S)
                first.start()
                until("the first leads", lambda: leads(first))
                first.ready()
                looked(first)
            tell(probes=probing.row(), roles=roles, changes=changes, middles=first.middles(), leads=leads(first),
                 refused=first.counter("switches_taken_over"), log=first.log() + second.log())
        """,
    )
    uninterrupted(seen["probes"])
    assert seen["roles"] == [True, True] and seen["changes"] == [0, 0], seen["log"]
    assert seen["leads"] and seen["middles"] == MIDDLES, seen["log"]
    # Each switch refuses the ids of the clock that was set back once; they are then above its own.
    assert seen["refused"] == 6, seen["log"]
