"""Many new connections per second from a to b while controllers come and go; for use in a jail."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from waiting import PATIENCE_S
from weft.emulation.namespace import entered, setting

EVERY_S = 0.02
"""Interval of new connections."""
PORT = 4000
RESENT_S = 0.9
"""Linux repeats a SYN or SYN+ACK after a second, so a connection that took longer lost one."""


class Opening:
    """Opens connections while a block runs, half of them MPTCP; results are set afterwards.

    Attributes:
        answered: Start and duration of each connection, on the clock `time.monotonic`.
        failed: Reasons of the others.
    """

    def __init__(self, net):
        """From a to b; a gets enough ports for connections that it has closed less than a minute ago."""
        with entered(net.namespaces["a"]):
            setting("net.ipv4.ip_local_port_range").write_text("10000 60000", encoding="ascii")
        config = {"namespace": net.namespaces["b"], "address": [net.address("b"), PORT], "every_s": EVERY_S}
        program = [sys.executable, str(Path(__file__).with_name("opener.py")), json.dumps(config)]
        self._command = ["nsenter", f"--net={net.namespaces['a']}", *program]

    def __enter__(self):
        self._process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout.readline() == "opening\n"
        return self

    def more(self, count):
        """Wait until so many connections that were opened from now on are answered."""
        self._process.stdin.write(f"{count}\n")
        self._process.stdin.flush()
        assert self._process.stdout.readline() == "answered\n"

    def __exit__(self, *_):
        seen = json.loads(self._process.communicate("stop\n", timeout=PATIENCE_S)[0])
        self.answered, self.failed = seen["answered"], seen["failed"]

    def row(self, gone_at):
        """All results, for `tell`; the connections are compared with the time at which a controller was gone."""
        after = sorted((began + took, took) for began, took in self.answered if began > gone_at)
        return {
            "answered": len(self.answered),
            "failed": self.failed,
            "resent": sum(took > RESENT_S for _, took in self.answered),
            "longest_s": round(max(took for _, took in self.answered), 2),
            "first_s": round(after[0][0] - gone_at, 2),
        }
