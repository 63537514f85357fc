"""Controllers with a network for tests in a jail: an idle connection of four subflows, connections that can be cut."""

from __future__ import annotations

import contextlib
import itertools
import re
import socket
import subprocess
import threading
import time

from benches.controller.lab import FABRIC, MIDDLE, PORT, Connected, Controller, network, pings, until


@contextlib.contextmanager
def steered(controller=None, **settings):
    """A controller that was given the fabric's file, by default a new one, and the network, once it is found."""
    controller = controller or Controller("--fabric", str(FABRIC))
    with network(**settings) as net:
        controller.ready()
        yield controller, net


@contextlib.contextmanager
def steady(controller=None, controllers=(PORT,)):
    """Like `steered`; also opens an idle connection from a and waits until its four subflows have a path each.

    Hosts still exchange ARP now and then, as usual.
    """
    with steered(controller, controllers=controllers) as (controller, net):
        pings(net)
        with Connected(net):
            until("four subflows have four paths", lambda: controller.middles() == list(MIDDLE))
            # Rules for the handshake's segments are replaced once the path is complete.
            time.sleep(1)
            yield controller, net


class Relay:
    """A TCP proxy between a switch and its controller that can drop all traffic."""

    def __init__(self, port, to):
        """Listen on a loopback port, and forward to another."""
        self._to = to
        self._lost = threading.Event()
        self._pairs = []
        self._listening = socket.create_server(("127.0.0.1", port), backlog=50)
        threading.Thread(target=self._accept, daemon=True).start()

    def lose(self):
        """Forward nothing from now on, without closing either side."""
        self._lost.set()

    def find(self):
        """Forward new connections again; close the old ones."""
        pairs, self._pairs = self._pairs, []
        for one in pairs:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        self._lost.clear()

    def _accept(self):
        while True:
            here = self._listening.accept()[0]
            if self._lost.is_set():
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
                while self._lost.is_set():
                    time.sleep(0.05)
                target.sendall(data)
        for one in (source, target):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)


class Pinging:
    """Pings every 0.1 s while a block runs: `sent` is their number, `row` the longest run of lost ones.

    Single pings may be lost on a congested path.
    """

    def __init__(self, net, source="a", target="b"):
        """From one host to another."""
        self._command = ["nsenter", f"--net={net.namespaces[source]}", "ping", "-n", "-i", "0.1", net.address(target)]

    def __enter__(self):
        self._process = subprocess.Popen(self._command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return self

    def __exit__(self, *_):
        self._process.send_signal(2)
        said = self._process.communicate(timeout=10)[0]
        self.sent = int(re.search(r"(\d+) packets transmitted", said)[1])
        # The last ones are still in transit: a full queue delays by more than 0.5 s.
        came = [0, *map(int, re.findall(r"icmp_seq=(\d+)", said))]
        self.row = max(after - before - 1 for before, after in itertools.pairwise(sorted(came)))
        self.missing = sorted(set(range(1, max(came))) - set(came))
        assert max(came) > self.sent - 20, said[-2000:]


def rules(net, switch):
    """The rules of a switch, each as its priority, match and actions; counters and times are left out."""
    said = subprocess.run(
        ["ovs-ofctl", "-O", "OpenFlow13", "--no-stats", "dump-flows", f"unix:/run/openvswitch/{switch}.mgmt"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return sorted(line.strip() for line in said.splitlines() if "actions=" in line)
