"""iperf3 between two emulated hosts: throughput over time, as the receiver sees it.

With MPTCP what a sender's program has written says little: it fills buffers for all subflows first. So the intervals
are those of the receiving side, and so is the sum.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import IO, Any

from .errors import EmulationError
from .namespace import entered
from .requirements import program

PORT = 5201
"""iperf3's own."""
INTERVAL_S = 0.1
"""Between reports: iperf3 makes them no oftener."""
_BLOCK = "16K"
"""Bytes read and written at a time: with iperf3's 128 kB an interval at 100 Mbps has room for ten."""
_READY_S = 10.0
"""Seconds that a server has to listen."""
_OVERTIME_S = 15.0
"""Seconds that a transfer may take beyond what it was told."""
_LOOK_S = 0.02


@dataclass(frozen=True)
class Interval:
    """What arrived in a stretch of time; seconds since the sender began to send."""

    begin_s: float
    end_s: float
    bytes: int

    @property
    def throughput_bps(self) -> float:
        """In bit/s."""
        return self.bytes * 8 / (self.end_s - self.begin_s) if self.end_s > self.begin_s else 0.0


@dataclass(frozen=True)
class Transfer:
    """A transfer that has ended.

    Attributes:
        intervals: Each a tenth of a second, in order.
        received_bytes: By the receiving program.
        seconds: How long the receiver counted.
        retransmissions: Segments that the sender sent again, of the first subflow only if there are several; None
            where iperf3 does not say.
        streams: Connections at a time.
    """

    intervals: list[Interval]
    received_bytes: int
    seconds: float
    retransmissions: int | None
    streams: int

    def mean_bps(self, begin_s: float = 0.0, end_s: float = float("inf")) -> float:
        """Throughput over the intervals that lie within; 0 if none does."""
        chosen = [one for one in self.intervals if one.begin_s >= begin_s - 1e-6 and one.end_s <= end_s + 1e-6]
        span = sum(one.end_s - one.begin_s for one in chosen)
        return sum(one.bytes for one in chosen) * 8 / span if span else 0.0


def check() -> None:
    """Refuse a machine without iperf3.

    Raises:
        EmulationError: It is not installed.
    """
    if program("iperf3") is None:
        raise EmulationError("missing: iperf3", "`make emulation` installs the package iperf3 (Debian, Ubuntu)")


def version() -> str:
    """Of iperf3, e.g. `3.12`.

    Raises:
        EmulationError: It is not installed.
    """
    check()
    said = subprocess.run([str(program("iperf3")), "--version"], capture_output=True, text=True, check=False).stdout
    words = said.split()
    return words[1] if len(words) > 1 else said.strip()


def transfer(
    source: str,
    destination: str,
    address: str,
    seconds: float,
    *,
    congestion: str,
    streams: int = 1,
    wrap: Callable[[list[str]], list[str]] = list,
    meanwhile: Callable[[], None] = lambda: None,
) -> Transfer:
    """Send for some seconds as fast as it goes.

    Args:
        source: Namespace of the sender, as a path.
        destination: Namespace of the receiver, as a path.
        address: Of the receiver.
        seconds: How long.
        congestion: The sender's congestion control.
        streams: Connections at a time.
        wrap: Makes of a command what is run instead, e.g. `mptcp.wrapped`.
        meanwhile: Called once the sender runs; what it does must be done before that ends.

    Raises:
        EmulationError: iperf3 failed, or took too long.
    """
    check()
    own = [str(program("iperf3")), "--port", str(PORT), "--interval", str(INTERVAL_S), "--json"]
    limit = seconds + _OVERTIME_S
    with tempfile.TemporaryFile() as said:
        with entered(destination):
            server = subprocess.Popen(
                wrap([*own, "--server", "--one-off"]), stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT
            )
        try:
            _wait_until_it_listens(server, destination, said)
            asked = ["--client", address, "--time", f"{seconds:g}", "--length", _BLOCK, "--congestion", congestion]
            with entered(source):
                client = subprocess.Popen(
                    wrap([*own, *asked, "--parallel", str(streams), "--connect-timeout", str(round(_READY_S * 1e3))]),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                )
            sent = _ended(client, limit, meanwhile)
            server.wait(_OVERTIME_S)
        except subprocess.TimeoutExpired as late:
            raise EmulationError(f"iperf3 had not ended {late.timeout:g} s after it began") from late
        finally:
            if server.poll() is None:
                server.kill()
                server.wait()
        return read(sent, _text(said))


def read(sent: str, received: str) -> Transfer:
    """The transfer that the JSON reports of both sides are about.

    Raises:
        EmulationError: One of them reports an error, or is no report.
    """
    client, server = _report(sent, "sender"), _report(received, "receiver")
    try:
        intervals = [
            Interval(float(one["sum"]["start"]), float(one["sum"]["end"]), int(one["sum"]["bytes"]))
            for one in server["intervals"]
        ]
        total = server["end"]["sum_received"]
        retransmissions = client["end"]["sum_sent"].get("retransmits")
        return Transfer(
            [one for one in intervals if one.end_s > one.begin_s],
            int(total["bytes"]),
            float(total["seconds"]),
            None if retransmissions is None else int(retransmissions),
            len(server["start"]["connected"]),
        )
    except (KeyError, TypeError, ValueError) as wrong:
        raise EmulationError(f"iperf3 reports other than expected: {type(wrong).__name__} {wrong}") from None


def _report(text: str, side: str) -> dict[str, Any]:
    begin = text.find("{")
    try:
        report: dict[str, Any] = json.loads(text[begin:]) if begin >= 0 else {}
    except ValueError:
        report = {}
    if not report:
        raise EmulationError(f"the {side}'s iperf3 says no report: {text.strip()[-200:] or 'nothing'}")
    if "error" in report:
        raise EmulationError(f"the {side}'s iperf3: {report['error']}")
    return report


def _wait_until_it_listens(server: subprocess.Popen[bytes], namespace: str, said: IO[bytes]) -> None:
    command: Sequence[str] = [str(program("ss")), "-ltnH", f"( sport = :{PORT} )"]
    until = time.monotonic() + _READY_S
    while True:
        with entered(namespace):
            listening = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
        if listening:
            return
        if server.poll() is not None:
            raise EmulationError(f"the receiver's iperf3 ended with {server.returncode}: {_text(said).strip()[-200:]}")
        if time.monotonic() > until:
            raise EmulationError(f"the receiver's iperf3 does not listen after {_READY_S:g} s")
        time.sleep(_LOOK_S)


def _ended(client: subprocess.Popen[bytes], limit: float, meanwhile: Callable[[], None]) -> str:
    try:
        meanwhile()
        return client.communicate(timeout=limit)[0].decode(errors="replace")
    finally:
        if client.poll() is None:
            client.kill()
            client.communicate()


def _text(said: IO[bytes]) -> str:
    said.seek(0)
    return said.read().decode(errors="replace")
