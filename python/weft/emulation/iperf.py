"""iperf3 between two emulated hosts: throughput over time, measured at the receiver.

With MPTCP the sender's own numbers are misleading, because it first fills the buffers of all subflows. So intervals and
totals are those of the receiver.
"""

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
"""iperf3's default port."""
INTERVAL_S = 0.1
"""Interval between reports, iperf3's minimum."""
_BLOCK = "16K"
"""Block size: with iperf3's default of 128 kB, an interval at 100 Mbps has room for only ten."""
_READY_S = 10.0
"""Timeout in seconds for a server to listen."""
_OVERTIME_S = 15.0
"""Seconds that a transfer may take beyond its duration."""
_LOOK_S = 0.02


@dataclass(frozen=True)
class Interval:
    """Data received in an interval; times in seconds since the sender started."""

    begin_s: float
    end_s: float
    bytes: int

    @property
    def throughput_bps(self) -> float:
        """Throughput in bit/s."""
        return self.bytes * 8 / (self.end_s - self.begin_s) if self.end_s > self.begin_s else 0.0


@dataclass(frozen=True)
class Transfer:
    """A finished transfer over parallel connections (`streams`), as the receiver sees it in `INTERVAL_S`.

    `retransmissions` are of the first subflow only if there are several; None if iperf3 does not report them.
    """

    intervals: list[Interval]
    received_bytes: int
    seconds: float
    retransmissions: int | None
    streams: int

    def mean_bps(self, begin_s: float = 0.0, end_s: float = float("inf")) -> float:
        """Throughput over the intervals within the given times; 0 if there are none."""
        chosen = [one for one in self.intervals if one.begin_s >= begin_s - 1e-6 and one.end_s <= end_s + 1e-6]
        span = sum(one.end_s - one.begin_s for one in chosen)
        return sum(one.bytes for one in chosen) * 8 / span if span else 0.0


def check() -> None:
    """Check that iperf3 is installed. Raises `EmulationError` if it is not installed."""
    if program("iperf3") is None:
        raise EmulationError("missing: iperf3", "`make emulation` installs the package iperf3 (Debian, Ubuntu)")


def version() -> str:
    """The version of iperf3, e.g. `3.12`. Raises `EmulationError` if it is not installed."""
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
    """Send at full speed for some seconds, from one namespace to another.

    `wrap` transforms the command to run, e.g. `mptcp.wrapped`. `meanwhile` is called while the sender runs, and must
    return before it ends. Raises `EmulationError` if iperf3 failed, or took too long.
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
            raise EmulationError(f"iperf3 did not finish within {late.timeout:g} s") from late
        finally:
            if server.poll() is None:
                server.kill()
                server.wait()
        return read(sent, _text(said))


def read(sent: str, received: str) -> Transfer:
    """Parse the JSON reports of both sides.

    Raises `EmulationError` if one of them reports an error or is not a valid report.
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
        raise EmulationError(f"unexpected iperf3 report: {type(wrong).__name__} {wrong}") from None


def _report(text: str, side: str) -> dict[str, Any]:
    begin = text.find("{")
    try:
        report: dict[str, Any] = json.loads(text[begin:]) if begin >= 0 else {}
    except ValueError:
        report = {}
    if not report:
        raise EmulationError(f"no report from the {side}'s iperf3: {text.strip()[-200:] or 'no output'}")
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
            raise EmulationError(
                f"the receiver's iperf3 exited with code {server.returncode}: {_text(said).strip()[-200:]}"
            )
        if time.monotonic() > until:
            raise EmulationError(f"the receiver's iperf3 did not listen within {_READY_S:g} s")
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
