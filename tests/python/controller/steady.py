"""A management connection that can be lost, and how steadily paths carry what they carry; to be used in a jail."""

from __future__ import annotations

import contextlib
import itertools
import json
import re
import socket
import subprocess
import sys
import threading
import time

from benches.controller.lab import MIDDLE, interface


class Relay:
    """Carries the connection of a switch to its controller, until it is told to lose everything."""

    def __init__(self, port, to):
        """Listen on a port of loopback, and connect to another."""
        self._to = to
        self._lost = threading.Event()
        self._pairs = []
        self._listening = socket.create_server(("127.0.0.1", port), backlog=50)
        threading.Thread(target=self._accept, daemon=True).start()

    def lose(self):
        """Carry nothing from now on; neither side is told."""
        self._lost.set()

    def find(self):
        """Carry new connections again; old ones end."""
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


_LOOK = """
import json, signal, sys, time
from pathlib import Path

files = {name: Path(file) for name, file in json.loads(sys.argv[1]).items()}
done = []
signal.signal(signal.SIGTERM, lambda *_: done.append(1))
gaps = dict.fromkeys(files, 0.0)
held_up, before = 0.0, time.monotonic()
seen = {name: (int(file.read_text()), before, 0.0) for name, file in files.items()}
print("looking", flush=True)
while not done:
    time.sleep(0.01)
    now = time.monotonic()
    # While this process itself was held up nobody knows what was carried when.
    held_up += max(0.0, now - before - 0.1)
    before = now
    for name, file in files.items():
        count, since, held = seen[name]
        found = int(file.read_text())
        gaps[name] = max(gaps[name], now - since - (held_up - held))
        # LLDP and lone acknowledgements are not what a path carries.
        if found - count >= 1000:
            seen[name] = (found, now, held_up)
print(json.dumps(gaps))
"""


class Watch:
    """How long each path between s1 and s2 carries nothing at a time, from s1's side, while a block runs."""

    def __init__(self, net):
        """The network."""
        self._files = {name: f"/sys/class/net/{interface(net, name, 's1')}/statistics/rx_bytes" for name in MIDDLE}

    def __enter__(self):
        self._process = subprocess.Popen(
            [sys.executable, "-c", _LOOK, json.dumps(self._files)], stdout=subprocess.PIPE, text=True
        )
        self._process.stdout.readline()
        return self

    def __exit__(self, *_):
        self._process.terminate()
        self.gaps = json.loads(self._process.communicate(timeout=10)[0])


class Pinging:
    """Pings every tenth of a second while a block runs: `sent` so many, and `row` of them in a row were lost.

    Single ones are lost where a path is full.
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
        # The last are still under way: a full queue holds more than half a second.
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


def keep_neighbours(net):
    """Have both hosts know each other's MAC address for good, at every address of theirs."""
    for source, target in ("ab", "ba"):
        known = subprocess.run(
            ["nsenter", f"--net={net.namespaces[source]}", "ip", "neighbour", "show"],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for address, device in re.findall(r"(\S+) dev (\S+) lladdr", known):
            mac = net.hosts[target].MAC()
            known = f"ip neighbour replace {address} lladdr {mac} dev {device} nud permanent"
            subprocess.run(["nsenter", f"--net={net.namespaces[source]}", *known.split()], check=True)
