"""What `weft controller show` prints: one row per line, whatever the terminal width."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from weft.controller import tables

SWITCHES = ["0000000000000001", "0000000000000003", "0000000000000002"]
SUBFLOW = {
    "source": "10.0.0.1:42146",
    "destination": "10.0.0.2:5201",
    "kind": "initial",
    "state": "active",
    "path": 0,
    "switches": SWITCHES,
}
CONNECTIONS = {
    "connections": [
        {
            "initiator": "10.0.0.1:42146",
            "listener": "10.0.0.2:5201",
            "state": "established",
            "version": 1,
            "subflows": [SUBFLOW, {**SUBFLOW, "source": "10.1.0.1:41003", "kind": "join", "path": 1}],
        }
    ],
    "total": 1,
}


@pytest.mark.parametrize("terminal", [False, True])
def test_ids_are_whole_and_a_subflow_has_one_line(terminal):
    out = io.StringIO()
    console = Console(file=out, width=80, force_terminal=terminal, color_system=None)
    tables.show(console, "connections", CONNECTIONS)
    head, initial, join, note = out.getvalue().splitlines()
    assert head.split() == ["connection", "state", "subflow", "kind", "path", "switches"]
    assert initial.rstrip().endswith("10.0.0.1:42146 - 10.0.0.2:5201  initial     0  " + " ".join(SWITCHES))
    assert join.strip().startswith("10.1.0.1:41003 - 10.0.0.2:5201  join") and join.rstrip().endswith(SWITCHES[2])
    assert note == "1 MPTCP connection"
    assert console.width == 80


def test_refused_switches_and_differences_stand_below_the_others():
    out = io.StringIO()
    refused = {"address": "127.0.0.1:5", "dpid": None, "speaks": "OpenFlow 1.0", "times": 3, "last_s": 2.4}
    shown = {"switches": [], "total": 0, "differences": ["s1 " + "x" * 90], "refused": [refused]}
    tables.show(Console(file=out, width=80), "switches", shown)
    assert out.getvalue().splitlines()[1:] == [
        "differs from the fabric file: s1 " + "x" * 90,
        "refused: the switch at 127.0.0.1:5 speaks OpenFlow 1.0 (3 times, last 2 s ago)",
    ]
