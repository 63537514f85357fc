"""Emulated hosts resolve addresses when the simulator's hosts do."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from plans import flow
from waiting import until
from weft.emulation import neighbours
from weft.emulation.errors import EmulationError
from weft.emulation.namespace import path_of

FLOWS = [
    flow(0, "h0", "h1", 0.0),
    flow(1, "h1", "h0", 0.5),
    flow(2, "h0", "h1", 1.5),
    flow(3, "h0", "h2", 1.6),
    flow(4, "h0", "h1", 4.0),
]


@pytest.mark.parametrize(
    ("lifetime", "forgotten"),
    [
        (60.0, []),
        # The target learns the requester's address, so flow 1 needs no request; flow 4 is too late to use flow 2's.
        (1.0, [(1.5, "h0", "h1"), (4.0, "h0", "h1")]),
        (2.0, [(4.0, "h0", "h1")]),
        (0.0, [(0.5, "h1", "h0"), (1.5, "h0", "h1"), (4.0, "h0", "h1")]),
    ],
)
def test_an_address_is_forgotten_right_before_the_flow_that_has_to_ask_for_it(lifetime, forgotten):
    found = [change for change in neighbours.changes(FLOWS, lifetime) if not change.keeps]
    assert [(change.at_s + neighbours.LEAD_S, change.host, change.other) for change in found] == forgotten


def test_what_both_hosts_have_learnt_is_kept_soon_after_each_question():
    found = neighbours.changes(FLOWS, 60.0)
    assert [(change.at_s - neighbours.LEARNT_S, change.host, change.other) for change in found] == [
        (0.0, "h0", "h1"),
        (0.0, "h1", "h0"),
        (1.6, "h0", "h2"),
        (1.6, "h2", "h0"),
    ]


def test_hosts_that_do_not_ask_know_those_they_have_flows_with_and_no_others():
    macs = {name: f"02:00:00:00:00:0{name[1]}" for name in ("h0", "h1", "h2")}
    addresses = {name: f"10.0.0.{int(name[1]) + 1}" for name in macs}
    known = neighbours.permanent(FLOWS, macs, addresses)
    assert known["h2"] == ["neigh replace 10.0.0.1 lladdr 02:00:00:00:00:00 dev {dev} nud permanent"]
    assert len(known["h0"]) == 2


def test_a_host_forgets_the_given_address_and_no_other(root):
    holder = subprocess.Popen(
        ["unshare", "--net", "sh", "-c", SETUP],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "ready\n"
        neighbour_tables = neighbours.NeighbourTables(
            {"h0": path_of(holder.pid)},
            {"h1": "10.0.0.2", "h2": "10.0.0.3", "h3": "10.0.0.4"},
            {name: f"02:00:00:00:00:0{name[1]}" for name in ("h1", "h2", "h3")},
            {"h0": "h0-eth0"},
        )
        assert known_to(holder.pid) == {"10.0.0.2", "10.0.0.3"}
        forget = neighbours.Change(0.0, False, "h0", "h1")
        neighbour_tables.change(forget)
        until("h1 is forgotten", lambda: known_to(holder.pid) == {"10.0.0.3"}, state=lambda: said_of(holder.pid))
        neighbour_tables.change(forget)
        # From now on, known entries are maintained and unknown ones stay unknown.
        neighbour_tables.change(neighbours.Change(0.0, True, "h0", "h2"))
        neighbour_tables.change(neighbours.Change(0.0, True, "h0", "h3"))
        # The kernel applies a change while it is sent: h3's is done as well.
        until("h2 is maintained", lambda: "extern_learn" in said_of(holder.pid), state=lambda: said_of(holder.pid))
        assert known_to(holder.pid) == {"10.0.0.3"}
        neighbour_tables.close()
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close()


@contextmanager
def deaf_pair() -> Iterator[tuple[int, int]]:
    """Two hosts on one link, of which the second answers no ARP request until instructed to: their processes."""
    hosts = [
        subprocess.Popen(
            ["unshare", "--net", "sh", "-c", "echo ready; exec cat"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    try:
        for host in hosts:
            assert host.stdout is not None
            assert host.stdout.readline() == "ready\n"
        one, two = (host.pid for host in hosts)
        within(one, f"ip link add eth0 type veth peer name eth0 netns {two}")
        for number, pid in enumerate((one, two), 1):
            mac = f"02:00:00:00:00:0{number}"
            within(pid, f"ip link set eth0 address {mac} up; ip address add 10.0.0.{number}/8 dev eth0")
        within(two, ARP_IGNORE.format(8))
        yield one, two
    finally:
        for host in hosts:
            host.kill()
            host.wait()
            assert host.stdout is not None
            host.stdout.close()


ARP_IGNORE = "echo {} > /proc/sys/net/ipv4/conf/eth0/arp_ignore"


def within(process: int, command: str) -> None:
    subprocess.run(["nsenter", f"--net={path_of(process)}", "sh", "-ec", command], check=True)


def acquainted(one: int, two: int) -> None:
    namespaces = {"h0": path_of(one), "h1": path_of(two)}
    addresses = {"h0": "10.0.0.1", "h1": "10.0.0.2"}
    macs = {"h0": "02:00:00:00:00:01", "h1": "02:00:00:00:00:02"}
    neighbour_tables = neighbours.NeighbourTables(namespaces, addresses, macs, dict.fromkeys(namespaces, "eth0"))
    try:
        neighbours.acquaint([flow(0, "h0", "h1", 0.0)], namespaces, addresses, neighbour_tables)
    finally:
        neighbour_tables.close()


def test_a_warm_run_waits_until_its_hosts_know_each_other(root):
    with deaf_pair() as (one, two):
        late = threading.Timer(3 * neighbours.LEARNT_S, within, (two, ARP_IGNORE.format(0)))
        late.start()
        acquainted(one, two)
        late.join()
        assert (known_to(one), known_to(two)) == ({"10.0.0.2"}, {"10.0.0.1"})
        assert all("extern_learn" in said_of(host) for host in (one, two))


def test_a_warm_run_whose_hosts_cannot_know_each_other_does_not_start(root, monkeypatch):
    monkeypatch.setattr(neighbours, "ACQUAINT_S", 1.0)
    with deaf_pair() as (one, two), pytest.raises(EmulationError, match="such as h0 and h1, have not resolved"):
        acquainted(one, two)


SETUP = """
ip link add h0-eth0 type veth peer name other
ip link set other up; ip address add 10.0.0.1/8 dev h0-eth0; ip link set h0-eth0 up
ip neigh replace 10.0.0.2 lladdr 02:00:00:00:00:01 dev h0-eth0 nud reachable
ip neigh replace 10.0.0.3 lladdr 02:00:00:00:00:02 dev h0-eth0 nud reachable
echo ready; exec cat
"""


def said_of(process: int) -> str:
    """The output of `ip neigh` in a namespace."""
    command = ["nsenter", f"--net={path_of(process)}", "ip", "neigh", "show"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def known_to(process: int) -> set[str]:
    """The addresses with a neighbour entry in a namespace."""
    return {line.split()[0] for line in said_of(process).splitlines() if "lladdr" in line}
