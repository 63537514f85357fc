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
CONNECTION = {
    "initiator": "10.0.0.1:42146",
    "listener": "10.0.0.2:5201",
    "state": "established",
    "version": 1,
    "subflows": [SUBFLOW, {**SUBFLOW, "source": "10.1.0.1:41003", "kind": "join", "path": 1}],
}
PATH = {"id": 1, "switches": ["s1", "s3", "s2"], "state": "installed", "subflows": 2, "other": 1}
STATION = {"mac": "02:00:00:00:00:01", "switch": "s1", "port": 1, "addresses": ["10.0.0.1", "fd00::1"], "seen_s": 3.2}


@pytest.mark.parametrize("terminal", [False, True])
def test_ids_are_whole_and_a_subflow_has_one_line(terminal):
    out = io.StringIO()
    console = Console(file=out, width=80, force_terminal=terminal, color_system=None)
    tables.show(console, "connections", {"connections": [CONNECTION], "total": 1})
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


def test_the_tables_show_what_there_is():
    out = io.StringIO()
    console = Console(file=out, width=160)
    installing = SUBFLOW | {"kind": "join", "state": "installing", "switches": ["s1", "s4", "s2"]}
    connections = [CONNECTION | {"subflows": [SUBFLOW, installing]}]
    tables.show(console, "connections", {"connections": connections, "total": 5, "flows": 7})
    tables.show(console, "paths", {"paths": [PATH], "total": 1})
    tables.show(console, "stations", {"stations": [STATION], "total": 1})
    port = {"port": 1, "name": "s1-eth1", "role": "switch", "to": {"switch": "s3", "port": 2}}
    switch = {"dpid": 1, "name": "s1", "connection": "ready", "address": "127.0.0.1:1", "ports": [port]}
    tables.show(console, "switches", {"switches": [switch], "total": 1, "differences": ["no cable s1 - s2"]})
    text = out.getvalue()
    for part in (
        "10.0.0.1:42146 - 10.0.0.2:5201",
        "established, v1",
        "join installing",
        "s1 s4 s2",
        "5 MPTCP connections, 1 shown (--limit N shows more); 7 flows of plain TCP",
        "1 path",
        "10.0.0.1 fd00::1",
        "1 s1-eth1 switch -> s3 port 2",
        "1 switch",
        "differs from the fabric file: no cable s1 - s2",
    ):
        assert part in text, part
