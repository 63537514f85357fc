"""Controllers with a network for tests in a jail: an idle connection of four subflows, connections that can be cut."""

from __future__ import annotations

import contextlib
import itertools
import re
import socket
import subprocess
import threading
import time
from pathlib import Path

from lab import FABRIC, LINKS, MIDDLE, PORT, Connected, Controller, network, pings, until
from waiting import PATIENCE_S

OF_NO_USE = "priority=7,ip,nw_dst=192.0.2.1"


@contextlib.contextmanager
def steered(controller=None, connect=None, **settings):
    """A controller that was given the fabric's file, by default a new one, and the network, once it is found.

    `connect` connects the network's switches to controllers, in place of `controllers`.
    """
    controller = controller or Controller("--fabric", str(FABRIC))
    with network(**settings) as net:
        if connect is not None:
            connect(net)
        controller.ready()
        yield controller, net


@contextlib.contextmanager
def steady(controller=None, controllers=(PORT,), connect=None):
    """Like `steered`; also opens an idle connection from a and waits until its four subflows have a path each.

    Hosts still exchange ARP now and then, as usual.
    """
    with steered(controller, connect, controllers=controllers) as (controller, net):
        pings(net)
        with Connected(net):
            until("four subflows have four paths", lambda: controller.middles() == list(MIDDLE))
            # A path is chosen at the SYN. Rules that copy a handshake to the controller are replaced after it.
            until("no handshake is watched", lambda: not watched(net), state=lambda: watched(net))
            calm(controller)
            yield controller, net


class Relay:
    """A TCP proxy between a switch and its controller that can drop all traffic."""

    def __init__(self, port, to):
        """Listen on a loopback port, and forward to another."""
        self._to = to
        self._passing = threading.Event()
        self._passing.set()
        self._pairs = []
        self._listening = socket.create_server(("127.0.0.1", port), backlog=50)
        threading.Thread(target=self._accept, daemon=True).start()

    def lose(self):
        """Forward nothing from now on, without closing either side."""
        self._passing.clear()

    def find(self):
        """Forward new connections again; close the old ones."""
        pairs, self._pairs = self._pairs, []
        for one in pairs:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        self._passing.set()

    def _accept(self):
        while True:
            here = self._listening.accept()[0]
            if not self._passing.is_set():
                self._pairs.append(here)
                continue
            try:
                there = socket.create_connection(("127.0.0.1", self._to))
            except OSError:
                here.close()
                continue
            self._pairs += [here, there]
            for source, target in ((here, there), (there, here)):
                threading.Thread(target=self._carry, args=(source, target), daemon=True).start()

    def _carry(self, source, target):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                self._passing.wait()
                target.sendall(data)
        for one in (source, target):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)


class Pinging:
    """Pings every 0.1 s while a block runs, and on until all of its pings, at most `sent`, are answered or lost.

    `row` is the longest run of lost ones, `missing` their numbers.

    Single pings may be lost on a congested path.
    """

    def __init__(self, net, source="a", target="b"):
        """From one host to another."""
        self._command = ["nsenter", f"--net={net.namespaces[source]}", "ping", "-n", "-i", "0.1", net.address(target)]
        self._said = Path("/run/pinging.log")

    def __enter__(self):
        self._began = time.monotonic()
        with self._said.open("w") as said:
            self._process = subprocess.Popen(self._command, stdout=said, stderr=subprocess.STDOUT)
        return self

    def _came(self):
        """The numbers of answered pings, after a 0."""
        return [0, *map(int, re.findall(r"icmp_seq=(\d+) ttl", self._said.read_text()))]

    def __exit__(self, error, *_):
        if error is None:
            # It has sent at most so many; later ones are answered after them, however long a full queue delays.
            self.sent = int((time.monotonic() - self._began) / 0.1) + 1
            until("later pings are answered", lambda: max(self._came()) > self.sent, state=self._said.read_text)
        self._process.send_signal(2)
        self._process.wait(PATIENCE_S)
        came = self._came()
        self.row = max(after - before - 1 for before, after in itertools.pairwise(sorted(came)))
        self.missing = sorted(set(range(1, max(came))) - set(came))


def calm(controller):
    """Wait until all changes that a controller has sent are confirmed."""
    until("no change is under way", lambda: controller.counter("transactions_now") == 0)


def unsteered(net):
    """Wait until no switch has a controller."""
    until("no switch has a controller", lambda: not any(map(net.switch.connected, net.dpids)))


def leave_behind(net):
    """Add a rule of Weft's that is of no use to every switch."""
    for switch in net.dpids:
        cookie = re.search(r"cookie=0x[0-9a-f]+", rules(net, switch)[0])[0]
        net.switch.add_rules(switch, [f"{cookie},{OF_NO_USE},actions=drop"])


def swept(net):
    """Wait until a controller has removed all rules that it found and that are of no use."""
    until("rules of no use are removed", lambda: not any(OF_NO_USE in str(rules(net, switch)) for switch in net.dpids))


def looked(controller):
    """Wait until a controller has looked at all links more often than misses make a link count as lost."""
    sent = controller.counter("lldp_sent")
    until("links are looked at", lambda: controller.counter("lldp_sent") > sent + 6 * LINKS)


def _dumped(switch, *options):
    command = ["ovs-ofctl", "-O", "OpenFlow13", *options, "dump-flows", f"unix:/run/openvswitch/{switch}.mgmt"]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [line.strip() for line in said.splitlines() if "actions=" in line]


def rules(net, switch):
    """The rules of a switch, each as its priority, match and actions; counters and times are left out."""
    return sorted(_dumped(switch, "--no-stats"))


def watched(net):
    """The rules of subflows that copy segments to the controller, because their handshake is not complete."""
    found = [rule for switch in net.dpids for rule in rules(net, switch)]
    return [rule for rule in found if "priority=30000,tcp" in rule and "CONTROLLER" in rule]


def counted(net, switch, wanted):
    """The packets of the rules of a switch with a text, by match."""
    lines = [line for line in _dumped(switch) if wanted in line]
    return {re.search(r"priority=\S+", line)[0]: int(re.search(r"n_packets=(\d+)", line)[1]) for line in lines}
