"""The standby takes over while hosts open many connections; Open vSwitch over TCP and TLS, and the kernel's MPTCP."""

from __future__ import annotations

import pytest

from steady_limits import MIDDLES, uninterrupted


@pytest.mark.long
@pytest.mark.parametrize(("scheme", "how"), [("tcp", "killed"), ("tcp", "paused"), ("ssl", "killed")])
def test_under_load_the_standby_takes_over_and_the_master_that_returns_stands_by(lab, scheme, how):
    seen = lab(
        f"scheme, how = {scheme!r}, {how!r}\n",
        """
        channel = Channel(scheme)
        first, second = channel.controller(), channel.controller("--role", "standby", port=PORT + 1)
        with steady(first, controllers=(), connect=channel.connect) as (_, net):
            until("the second stands by", lambda: stands_by(second))
            obey = lambda port: masters(net) == {channel.target(port): 6}
            until("all switches obey the first", lambda: obey(PORT), state=lambda: masters(net))
            before = kept(net)
            with Probing(net, subflows_of(first)) as probing:
                with Opening(net) as opening:
                    opening.more(100)
                    leave_behind(net)
                    gone_at = time.monotonic()
                    first.process.send_signal(9 if how == "killed" else 19)
                    until("the second leads", lambda: leads(second))
                    led_s = time.monotonic() - gone_at
                    opening.more(100)
                    if how == "killed":
                        first.process.wait()
                        first = channel.controller("--role", "standby")
                    else:
                        first.process.send_signal(18)
                    until("the first stands by", lambda: stands_by(first))
                    opening.more(100)
                    swept(net)
                until("all rules are those of before", lambda: kept(net) == before,
                      state=lambda: {one: set(rows) ^ set(before[one]) for one, rows in kept(net).items()})
            until("all switches obey the second", lambda: obey(PORT + 1), state=lambda: masters(net))
            tell(probes=probing.row(), opened=opening.row(gone_at), led_s=led_s, spreads=second.spreads(),
                 takeovers=[one.counter("takeovers") for one in (first, second)],
                 lost=second.counter("switches_taken_over"), log=first.log() + second.log())
        """,
    )
    opened = seen["opened"]
    print(f"{scheme}, {how}: led after {seen['led_s']:.2f} s, {opened}")
    uninterrupted(seen["probes"])
    assert opened["failed"] == [] and opened["answered"] >= 300, (opened, seen["log"])
    assert MIDDLES in seen["spreads"], (seen["spreads"], seen["log"])
    assert seen["takeovers"] == [0, 1] and seen["lost"] == 0, seen["log"]
    assert ("another controller has replaced this one" in seen["log"]) == (how == "paused"), seen["log"]
    assert "internal" not in seen["log"] and "Traceback" not in seen["log"]
