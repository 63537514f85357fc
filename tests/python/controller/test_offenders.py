"""Hosts stopped by a limit or a check are named in the log by their ports, without filling it."""

from __future__ import annotations

import logging

from weft.controller import offenders
from weft.controller.offenders import Offenders


def named(dpid, port):
    return f"switch s{dpid} port {port}"


def test_each_port_and_kind_is_named_at_once_and_then_every_ten_seconds_with_what_was_left_out(caplog):
    now = [100.0]
    some = Offenders(lambda: now[0], named)
    for second in range(25):
        now[0] = 100.0 + second
        offences = [("packets", 1, 3, None, None, 5000)] if second < 12 else []
        some.took(offences)
    warnings = [(record.levelno, record.getMessage()) for record in caplog.records]
    text = "switch s1 port 3 exceeds the rate limit of packets to the controller; {} frames were dropped"
    counts = ("5,000", "50,000", "5,000")
    assert warnings == [(logging.WARNING, text.format(count)) for count in counts]


def test_claims_are_named_with_their_addresses_and_ports_do_not_silence_each_other(caplog):
    some = Offenders(lambda: 0.0, named)
    some.took(
        [
            ("moved", 1, 3, "02:00:00:00:00:01", None, 1),
            ("taken", 1, 3, "02:00:00:00:00:03", "10.0.0.2", 2),
            ("taken", 1, 4, "02:00:00:00:00:04", "fd00::2", 1),
            ("moved-unasked", 1, 5, "02:00:00:00:00:01", None, 3),
            ("taken-unasked", 1, 5, "02:00:00:00:00:05", "10.0.0.2", 1),
        ]
    )
    assert [record.getMessage() for record in caplog.records] == [
        "switch s1 port 3 claims the MAC address 02:00:00:00:00:01, whose host responds at another port; "
        "1 claim was refuted",
        "switch s1 port 3 claims the address 10.0.0.2 from 02:00:00:00:00:03, but its current host responds; "
        "2 claims were refuted",
        "switch s1 port 4 claims the address fd00::2 from 02:00:00:00:00:04, but its current host responds; "
        "1 claim was refuted",
        "switch s1 port 5 claims the MAC address 02:00:00:00:00:01, whose host cannot be probed now; "
        "3 frames were dropped",
        "switch s1 port 5 claims from 02:00:00:00:00:05 the address 10.0.0.2, whose host cannot be probed now; "
        "1 frame was dropped",
    ]


def test_any_number_of_ports_take_so_much_memory_only(monkeypatch):
    monkeypatch.setattr(offenders, "_MOST", 64)
    some = Offenders(lambda: 0.0, named)
    for port in range(3 * offenders._MOST):
        some.took([("lldp", 1, port, None, None, 1)])
    assert len(some._said) == offenders._MOST
