"""Namespaces, links between them, and processes in them."""

import json
import os
import subprocess
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "target/release/examples"
BINARIES = ROOT / "target/release"


class LabError(Exception):
    """A step of a measurement failed."""


def run(*command: str, text: str | None = None, limit: float = 60.0) -> str:
    """The output of a command. Raises `LabError` if it fails, or takes more than `limit` seconds."""
    try:
        done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=limit)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise LabError(f"{' '.join(command)}: {error}") from error
    if done.returncode:
        raise LabError(f"{' '.join(command)}: {(done.stderr or done.stdout).strip()}")
    return done.stdout


def wait_for(what: str, condition: Callable[[], bool], limit: float = 20.0) -> None:
    """Waits until `condition` holds. Raises `LabError` if it does not within `limit` seconds."""
    end = time.monotonic() + limit
    while not condition():
        if time.monotonic() > end:
            raise LabError(f"{what}: not within {limit:g} s")
        time.sleep(0.02)


def on_cpu(cpu: int | None) -> list[str]:
    """The command prefix that pins a command to a core; empty if the machine has fewer cores."""
    cores = sorted(os.sched_getaffinity(0))
    return [] if cpu is None or cpu >= len(cores) else ["taskset", "--cpu-list", str(cores[cpu]), "nice", "-n", "-20"]


@dataclass
class Space:
    """A network namespace: a host or a switch."""

    name: str
    processes: list[subprocess.Popen[str]] = field(default_factory=list)

    @property
    def path(self) -> str:
        """The file that names it."""
        return f"/run/netns/{self.name}"

    def enter(self, *command: str, cpu: int | None = None) -> list[str]:
        """The command line that runs `command` in this namespace."""
        # `ip netns exec` would hide the BPF file system.
        return ["nsenter", f"--net={self.path}", *on_cpu(cpu), *command]

    def run(self, *command: str, cpu: int | None = None, limit: float = 60.0) -> str:
        """The output of a command run in this namespace."""
        return run(*self.enter(*command, cpu=cpu), limit=limit)

    def start(
        self, *command: str, cpu: int | None = None, log: Path | None = None, **extra: Any
    ) -> subprocess.Popen[str]:
        """Starts a command in this namespace; it ends with the lab, if not before."""
        sink = log.open("w") if log else subprocess.DEVNULL
        extra = {"stdout": sink, "stderr": sink} | extra
        process = subprocess.Popen(self.enter(*command, cpu=cpu), text=True, stdin=subprocess.DEVNULL, **extra)
        self.processes.append(process)
        return process

    def set(self, key: str, value: str) -> None:
        """Sets a sysctl of this namespace."""
        self.run("sysctl", "-q", "-w", f"{key}={value}")

    def received(self, interface: str) -> int:
        """Frames received on an interface."""
        links = json.loads(run("ip", "-n", self.name, "-j", "-s", "link", "show", "dev", interface))
        return int(links[0]["stats64"]["rx"]["packets"])

    def answers(self, address: str) -> bool:
        """Whether a ping to `address` is answered."""
        command = self.enter("ping", "-q", "-c", "1", "-W", "1", address)
        return subprocess.run(command, capture_output=True).returncode == 0


class Lab:
    """The namespaces of one measurement; ends their processes on exit."""

    def __init__(self) -> None:
        self.spaces: list[Space] = []
        self.cables = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for space in self.spaces:
            end(space.processes)
        for space in self.spaces:
            run("ip", "netns", "delete", space.name)

    def space(self, name: str) -> Space:
        """A new namespace."""
        run("ip", "netns", "add", name)
        space = Space(name)
        self.spaces.append(space)
        # No IPv6 neighbour discovery while frames are counted.
        space.run("sysctl", "-q", "-w", "net.ipv6.conf.all.disable_ipv6=1", "net.ipv6.conf.default.disable_ipv6=1")
        run("ip", "-n", name, "link", "set", "lo", "up")
        return space

    def cable(self, a: Space, a_end: str, b: Space, b_end: str) -> None:
        """A veth pair between two namespaces, with both ends up."""
        # For ends with the same interface index, Linux reports carrier loss up to a second late, as for network cards
        # soon after another change (linkwatch_urgent_event).
        self.cables += 1
        end = ["name", b_end, "index", str(1000 + self.cables), "netns", b.name]
        run("ip", "link", "add", a_end, "netns", a.name, "type", "veth", "peer", *end)
        for space, interface in ((a, a_end), (b, b_end)):
            run("ip", "-n", space.name, "link", "set", "dev", interface, "up")

    def host(self, name: str, number: int, switch: Space, port: str) -> Space:
        """A host connected to a port of a switch. Its address is `address(number)`, its MAC `mac(number)`."""
        host = self.space(name)
        self.cable(host, "eth0", switch, port)
        run("ip", "-n", name, "link", "set", "eth0", "address", mac(number))
        run("ip", "-n", name, "address", "add", f"{address(number)}/24", "dev", "eth0")
        # A connection keeps its congestion window between its turns.
        host.set("net.ipv4.tcp_slow_start_after_idle", "0")
        return host


def address(number: int) -> str:
    """The IPv4 address of a host."""
    return f"10.0.0.{number}"


def mac(number: int) -> str:
    """The Ethernet address of a host."""
    return f"02:00:00:00:00:{number:02x}"


def end(processes: Iterable[subprocess.Popen[str]]) -> None:
    """Ends these processes: SIGTERM first, SIGKILL after 3 s."""
    processes = [process for process in processes if process.poll() is None]
    for process in processes:
        process.terminate()
    for process in processes:
        try:
            process.wait(3)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
