"""A peer in its jail: `python -m weft.studies.tag_and_forward.inside DIRECTORY`.

It reads `options.json`, builds the peer, and answers requests, one JSON line each, until its standard input ends. It is
idle between requests, so peers do not disturb each other.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ...emulation import iperf, stack
from ...emulation.capacity import go_first, own_seconds
from ...emulation.errors import EmulationError
from ...emulation.inside import main, say
from ...emulation.namespace import entered
from ...emulation.requirements import program
from ...emulation.stack import offloads
from .daemons import Daemons
from .fabric import SERVERS
from .flows import example, of_load
from .forwarder import Forwarder, started
from .open_vswitch import OpenVSwitches
from .setup import FLOW_TABLE, OVS, TAG_FORWARD
from .watching import watched

_NOBODY = "02:00:00:00:ff:ff"
"""Destination MAC address of the load: hosts count such frames and drop them."""
_PORTS = (10_000, 9)
"""Ports of the load's flows: an arbitrary one, and `discard` (RFC 863)."""
_CONGESTION = "cubic"
_QUIET_S, _QUIET, _PATIENCE_S = 0.1, 32, 3.0
"""A load is drained when fewer packets than this arrive in this time (switches also send Hellos to hosts); and the
timeout for this."""
_LIMIT_S = 60.0
"""Seconds that a request may take beyond its duration."""

MAKERS: dict[str, Callable[[Path], Forwarder]] = {
    OVS: OpenVSwitches,
    FLOW_TABLE: lambda directory: Daemons(directory, FLOW_TABLE),
    TAG_FORWARD: lambda directory: Daemons(directory, TAG_FORWARD),
}


def run(directory: Path, options: dict[str, Any]) -> None:
    """Build the peer, then answer requests."""
    go_first()
    say("stage", stage="building", fraction=0.0)
    forwarder = MAKERS[options["peer"]](directory)
    with started(forwarder, options["rules"], lambda stage, share: say("stage", stage=stage, fraction=share)):
        answers = Answers(forwarder, directory)
        say("ready")
        for line in sys.stdin:
            request = json.loads(line)
            try:
                say("answer", answer=getattr(answers, request.pop("ask"))(**request))
            except EmulationError as error:
                say("refused", error=str(error))


class Answers:
    """The requests that a peer answers, one method each."""

    def __init__(self, forwarder: Forwarder, directory: Path) -> None:
        """Takes a running forwarder."""
        self._forwarder, self._testbed, self._directory = forwarder, forwarder.testbed, directory
        self._load = of_load()

    def echo(self, source: str, destination: str, size: int, count: int, warm: int) -> dict[str, Any]:
        """Sequential round trips between two servers: `rtt_ns` of each, and the number `lost`."""
        testbed = self._testbed
        words = [testbed.addresses[destination], "--netns", testbed.namespaces[source], "--size", str(size)]
        return _pktgen("echo", *words, "--count", str(count), "--warm", str(warm))

    def load(self, size: int, packets_per_s: float, seconds: float, flows: int) -> dict[str, Any]:
        """Send the first flows of the load at a rate (0: at one core's full speed); packets `sent` and `received`.

        Packets that arrive `late`, after the last was sent, were queued at a switch. `processor_s` is the CPU time of
        sender and switches, including the kernel's on their behalf, until then.
        """
        testbed, place = self._testbed, {server: number for number, server in enumerate(SERVERS)}
        sport, dport = _PORTS
        load = {
            "senders": [
                {"netns": testbed.namespaces[one], "interface": testbed.interface(one), "mac": testbed.mac(one)}
                for one in SERVERS
            ],
            "flows": [
                {
                    "sender": place[flow.from_server],
                    "source": flow.source,
                    "destination": flow.destination,
                    "sport": sport,
                    "dport": dport,
                }
                for flow in self._load[:flows]
            ],
            "to_mac": _NOBODY,
            "size": size,
            "packets_per_s": packets_per_s,
            "seconds": seconds,
        }
        file = self._directory / "load.json"
        file.write_text(json.dumps(load), encoding="utf-8")
        before, used = self._arrived(), own_seconds()
        found = _pktgen("load", str(file), limit_s=seconds + _LIMIT_S)
        arrived, taken = self._arrived() - before, own_seconds() - used + found["processor_s"]
        return {
            "sent": sum(found["sent"]),
            "received": arrived,
            "late": self._drained() - before - arrived,
            "seconds": found["seconds"],
            "processor_s": taken,
        }

    def _arrived(self) -> int:
        return sum(self._testbed.received().values())

    def _drained(self) -> int:
        """The number of packets received once the load is drained."""
        until, now = time.monotonic() + _PATIENCE_S, self._arrived()
        while time.monotonic() < until:
            time.sleep(_QUIET_S)
            before, now = now, self._arrived()
            if now - before < _QUIET:
                break
        return now

    def transfer(self, source: str, destination: str, seconds: float, segments: bool) -> dict[str, float]:
        """Throughput of one TCP connection in bit/s: `throughput_bps`.

        With `segments`, hosts send up to 64 kB at once, Linux's default (GSO); otherwise packets.
        """
        testbed = self._testbed
        ends = {host: testbed.interface(host) for host in (source, destination)}
        try:
            for host, device in ends.items():
                with entered(testbed.namespaces[host]):
                    offloads(device, on=segments)
            places = (testbed.namespaces[source], testbed.namespaces[destination])
            found = iperf.transfer(*places, testbed.addresses[destination], seconds, congestion=_CONGESTION)
        finally:
            for host, device in ends.items():
                with entered(testbed.namespaces[host]):
                    offloads(device)
        return {"throughput_bps": found.mean_bps(seconds / 4)}

    def fill(self, rules: int) -> dict[str, int]:
        """Refill all tables up to this number of rules; returns the number of rules by switch."""
        self._forwarder.carry([], lambda _: None, fill=rules)
        return self._forwarder.rules()

    def gates(self, at_once: bool) -> dict[str, Any]:
        """Remove and set all gates: `seconds` in total, and of each of the `switches`."""
        forwarder = self._forwarder
        assert isinstance(forwarder, Daemons)
        return forwarder.set_gates(at_once=at_once)

    def example(self) -> list[dict[str, Any]]:
        """The nodes that a packet of the paper's example reaches, with its tags."""
        return watched(self._testbed, example())

    def report(self) -> dict[str, Any]:
        """Versions, rules by switch, and rules for flows between servers alone (`state`)."""
        own = self._forwarder
        return {"versions": stack.versions() | own.report(), "rules": own.rules(), "state": own.state}


def _pktgen(*words: str, limit_s: float = _LIMIT_S) -> dict[str, Any]:
    command = [str(program("weft-pktgen")), *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=limit_s, check=False)
    if done.returncode != 0:
        raise EmulationError(done.stderr.strip() or f"weft-pktgen exited with code {done.returncode}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


if __name__ == "__main__":
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    os._exit(main(Path(sys.argv[1]), run))
