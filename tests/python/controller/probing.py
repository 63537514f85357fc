"""Numbered frames that match the rules of a connection's subflows, counted in transit; for use in a jail.

A probe has the addresses and ports of a subflow, so that switches treat it as one of its segments, and a wrong TCP
checksum, so that hosts discard it. TCP's own losses, timeouts and pauses thus do not affect the results: a missing
probe was dropped by a switch or sent to the controller.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from lab import MIDDLE, interface
from waiting import PATIENCE_S

EVERY_S = 0.02
"""Interval between probes, per subflow and direction."""


class Probing:
    """Probes every subflow of a connection, in both directions, while a block runs; results are set afterwards.

    Attributes:
        sent: Number of probes sent.
        lost: Number of lost probes, by subflow.
        copies: Number of probes that arrived more than once.
        middles: The middle switches that the probes of each subflow passed.
    """

    def __init__(self, net, subflows):
        """`subflows` are pairs of source and destination, each as `address:port`; the sources are at host a."""
        ends = {"a": subflows, "b": [(there, here) for here, there in subflows]}
        hosts = {
            name: {
                "namespace": net.namespaces[name],
                "device": net.interface(name),
                "macs": [net.hosts[other].MAC() for other in ("ba" if name == "a" else "ab")],
                "subflows": ends[name],
            }
            for name in "ab"
        }
        middles = {name: [interface(net, name, edge) for edge in ("s1", "s2")] for name in MIDDLE}
        self._config = json.dumps({"hosts": hosts, "middles": middles, "every_s": EVERY_S})

    def __enter__(self):
        command = [sys.executable, str(Path(__file__).with_name("prober.py")), self._config]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._process.stdout.readline()
        return self

    def more(self, rounds):
        """Wait until every subflow has been probed this often again."""
        self._process.stdin.write(f"{rounds}\n")
        self._process.stdin.flush()
        assert self._process.stdout.readline() == "sent\n"

    def __exit__(self, *_):
        seen = json.loads(self._process.communicate("stop\n", timeout=PATIENCE_S)[0])
        self.sent = sum(len(times) for times in seen["sent"])
        self.copies, self.lost = 0, {}
        for number, (sent, arrived) in enumerate(zip(seen["sent"], seen["arrived"], strict=True)):
            self.copies += len(arrived) - len(set(arrived))
            came = set(arrived)
            self.lost[number] = [round(at, 2) for probe, at in enumerate(sent) if probe not in came]
        self.middles = {number: sorted(through) for number, through in enumerate(seen["through"])}

    @property
    def losses(self):
        """How many probes were lost."""
        return sum(map(len, self.lost.values()))

    def row(self):
        """All results, for `tell`."""
        return {
            "sent": self.sent,
            "losses": self.losses,
            "lost": {number: times for number, times in self.lost.items() if times},
            "copies": self.copies,
            "middles": sorted({name for through in self.middles.values() for name in through}),
            "strays": sum(len(through) != 1 for through in self.middles.values()),
        }


def subflows_of(controller):
    """The subflows of the connection with the most, in the form that `Probing` takes."""
    found = max((one["subflows"] for one in controller.show("connections")["connections"]), key=len)
    return [(flow["source"], flow["destination"]) for flow in found]
