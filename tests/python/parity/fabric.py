"""Two leaves, two spines and their hosts, in one jail: switched by Linux bridges or by `weft-switchd`.

Each leaf has its uplinks `u1` and `u2`, hosts at `p1` and `p2`, one of the two places of a moving host at `p3`, many
stations at `p5`, and ends of links that are down until a case forms a loop with them: `w1` to `w2` of one leaf, `x`
from leaf to leaf, and `y` to a small unmanaged switch. `p4` of the second leaf is for a host added later.

The bridges are loop-free without STP, since one side of the second spine stays down, so their ports forward as soon as
they are up.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from waiting import PATIENCE_S, until
from weft.catalogue import schemes
from weft.sockets import RUN_DIR

from .netns import Netns, run, wire

BRIDGE = "bridge"
_EXPLORES = {
    entry["linux_mode"]: bool(entry["explores"])
    for entry in schemes()
    if entry["linux_mode"] and "controller" not in entry["needs"]
}
"""For each mode, whether it explores. Excludes `tag-forward` and `flow-table`, which only forward traffic that a
controller has installed rules for."""
ROUTED = tuple(mode for mode, explores in _EXPLORES.items() if not explores)
MODES = (*(mode for mode, explores in _EXPLORES.items() if explores), *ROUTED)
LEAVES = ("leaf1", "leaf2")
SPINES = ("spine1", "spine2")
OTHERS = ("left", "right", "roamer", "newcomer", "small")
"""Many stations (left, right), the two places of one station, a host added later, an unmanaged switch."""
HOSTS = {"h1": ("leaf1", "p1"), "h2": ("leaf1", "p2"), "h3": ("leaf2", "p1"), "h4": ("leaf2", "p2")}
MTU = 9000
"""MTU of all links, for the jumbo-frame cases; hosts' own interfaces have 1500 in all others."""
_PATH_HEADER = 20
FABRIC_MTU = MTU + _PATH_HEADER
_UNNOTICED = frozenset({"disabled", "down"})
"""States of a port, of a bridge or of a daemon, whose carrier the switch has not noticed."""


@dataclass(frozen=True)
class Pace:
    """The time scale: the Linux switch's defaults, or shorter lifetimes and intervals.

    Attributes:
        idle: Divisor of the silence intervals of idle hosts.
        hello: Hello interval in milliseconds.
        lifetimes: Keys of `[exploration]` that override the defaults.
    """

    idle: float
    hello: int
    lifetimes: Mapping[str, str]


FULL = Pace(1, 1000, {})
SHORT = Pace(
    25,
    100,
    # Below the third interval, so that the last three exceed all lifetimes. A lock must survive the scheduling
    # delays of a frame in transit.
    {
        "learnt": "400 ms",
        "attached": "800 ms",
        "confirmed": "400 ms",
        "closing": "200 ms",
        "lock": "200 ms",
        "broadcast_lock": "200 ms",
        "repair": "100 ms",
    },
)
PACES = {"full": FULL, "short": SHORT}
_TABLES = {"flow_table": "65536", "station_table": "16384"}


def host_address(name: str) -> str:
    """The MAC address of a host's first interface."""
    return f"02:00:00:00:00:{int(name[1:]):02x}"


class Fabric:
    """The network of one column of the table."""

    def __init__(self, kind: str, pace: Pace, switchd: str) -> None:
        """Create the network; the switches are not started yet.

        Args:
            kind: `BRIDGE`, or the mode of `weft-switchd`.
            pace: Its time scale.
            switchd: The `weft-switchd` program.
        """
        self.kind, self.pace = kind, pace
        self.spaces = {name: Netns(name) for name in (*LEAVES, *SPINES, *HOSTS, *OTHERS)}
        self.ports: dict[str, list[str]] = {name: [] for name in (*LEAVES, *SPINES)}
        self._daemons: dict[str, subprocess.Popen[bytes]] = {}
        self._hung: set[str] = set()
        self._switchd = switchd
        self._run = RUN_DIR
        self._run.mkdir()
        self._wires()

    @property
    def bridged(self) -> bool:
        """Whether Linux bridges do the switching."""
        return self.kind == BRIDGE

    def _wires(self) -> None:
        # Does not affect cases, whatever order interfaces are configured in.
        quiet = [("ipv6/conf/default/disable_ipv6", 1)]
        for name in (*LEAVES, *SPINES, "small"):
            self.spaces[name].set(quiet)
        for name in (*HOSTS, *OTHERS[:-1]):
            self.spaces[name].set(
                [
                    ("ipv6/conf/default/accept_dad", 0),
                    ("ipv6/conf/default/router_solicitations", 0),
                    ("ipv6/conf/default/addr_gen_mode", 1),
                    ("ipv4/conf/all/arp_ignore", 1),
                    ("ipv4/conf/all/arp_announce", 2),
                    ("ipv4/icmp_ratelimit", 0),
                    ("ipv4/ping_group_range", "0 2147483647"),
                ]
            )
        for leaf, down in zip(LEAVES, ("d1", "d2"), strict=True):
            for spine, up in zip(SPINES, ("u1", "u2"), strict=True):
                loop_free = not self.bridged or (leaf, spine) != ("leaf2", "spine2")
                self._wire((leaf, up), (spine, down), mtu=FABRIC_MTU, up=loop_free)
        for host, (leaf, port) in HOSTS.items():
            self._wire((leaf, port), (host, "eth0"))
        for leaf, end in zip(LEAVES, ("eth0", "eth1"), strict=True):
            self._wire((leaf, "p3"), ("roamer", end))
        self._wire(("leaf2", "p4"), ("newcomer", "eth0"))
        for leaf, name in zip(LEAVES, ("left", "right"), strict=True):
            self._wire((leaf, "p5"), (name, "eth0"))
        self._wire(("leaf1", "w1"), ("leaf1", "w2"), up=False)
        self._wire(("leaf1", "x"), ("leaf2", "x"), up=False)
        for leaf, end in zip(LEAVES, ("eth1", "eth2"), strict=True):
            self._wire((leaf, "y"), ("small", end), up=False)
        for host in HOSTS:
            number = int(host[1:])
            self.spaces[host].ip(
                f"link set dev eth0 address {host_address(host)} mtu 1500",
                f"addr add 10.0.0.{number}/16 dev eth0",
                f"addr add fd00::{number}/64 dev eth0 nodad",
            )

    def _wire(self, a: tuple[str, str], b: tuple[str, str], *, mtu: int = MTU, up: bool = True) -> None:
        wire((self.spaces[a[0]], a[1]), (self.spaces[b[0]], b[1]), mtu=mtu, up=up)
        for name, port in (a, b):
            if name in self.ports:
                self.ports[name].append(port)

    def start(self) -> None:
        """Start all switches, and wait until they forward."""
        if self.bridged:
            for name, ports in self.ports.items():
                # Test the bridge, not a firewall on it (br_netfilter checks and trims IP packets).
                if Path("/proc/sys/net/bridge").is_dir():
                    self.spaces[name].set(
                        (f"bridge/bridge-nf-call-{of}", 0) for of in ("arptables", "iptables", "ip6tables")
                    )
                self.spaces[name].ip(
                    f"link add name br0 mtu {MTU} type bridge mcast_snooping 0",
                    *(f"link set dev {port} master br0" for port in ports),
                    "link set dev br0 up",
                )
            self.settle()
            return
        for name in self.ports:
            self.begin(name)
        for name in self.ports:
            self._wait_for_socket(name)
        self.settle()

    def settle(self) -> None:
        """Wait until every port with a carrier forwards: of a bridge, or once its role is known."""
        until("all ports forward", lambda: all(map(self._forwards, self.ports)), state=self.states)

    def notice(self) -> None:
        """Wait until every carrier has been noticed: a daemon may not know the role of its port yet."""
        until(
            "all carriers are noticed",
            lambda: all(_UNNOTICED.isdisjoint(states.values()) for states in self.states().values()),
            state=self.states,
        )

    def states(self) -> dict[str, dict[str, str]]:
        """The states of the ports with a carrier by switch: of a bridge, or their roles."""
        return {name: self._states(name) for name in self.ports}

    def _states(self, name: str) -> dict[str, str]:
        space = self.spaces[name]
        carriers = {
            link["ifname"]
            for link in json.loads(run("ip", "-n", name, "-json", "link", "show"))
            # The operational state, and a bridge, may not have noticed it yet.
            if "LOWER_UP" in link["flags"]
        }
        if self.bridged:
            links = json.loads(run(*space.command("bridge", "-json", "link", "show")))
            found = {link["ifname"]: link["state"] for link in links}
        else:
            found = {port["interface"]: port["role"] for port in self.ask(name, "ports")}
        return {port: state for port, state in found.items() if port in carriers}

    def _forwards(self, name: str) -> bool:
        waits = {*_UNNOTICED, "listening", "learning", "unheard", "silent", "one-way"}
        return not any(
            state in waits or (not self.bridged and port[0] in "ud" and state != "fabric")
            for port, state in self._states(name).items()
        )

    def ask(self, name: str, what: str) -> Any:
        """A daemon's answer to a request on its control socket."""
        with socket.socket(socket.AF_UNIX) as one:
            one.settimeout(PATIENCE_S)
            one.connect(str(self._run / f"{name}.sock"))
            one.sendall(f"GET /v1/{what} HTTP/1.1\r\nHost: weft\r\nConnection: close\r\n\r\n".encode())
            answer = b"".join(iter(lambda: one.recv(1 << 16), b""))
        return json.loads(answer.partition(b"\r\n\r\n")[2])

    def hellos(self, count: int) -> None:
        """Wait until every daemon that runs has sent its ports this many Hello messages; no effect on a bridge."""
        if self.bridged:
            return
        running = [name for name in self.ports if name not in self._hung]
        sent = lambda: {name: self.ask(name, "counters")["hello"]["sent"] for name in running}  # noqa: E731
        before = sent()
        wanted = {name: before[name] + count * len(self._states(name)) for name in running}
        until(f"{count} rounds of Hello messages", lambda: all(now >= wanted[name] for name, now in sent().items()))

    def configure(self, name: str, *, guarded: bool = False, hold: int = 3) -> None:
        """Write the configuration of a switch.

        Args:
            name: The switch.
            guarded: Configure its fabric ports, so that Hello messages do not make another port one.
            hold: The hold time, in intervals of Hello messages.
        """
        ports = self.ports[name]
        lines = [f'name = "{name}"', f'mode = "{self.kind}"', f"ports = {_list(ports)}", f"mtu = {MTU}"]
        if guarded:
            lines.append(f"fabric_ports = {_list([port for port in ports if port[0] in 'ud'])}")
        lines += ["[hello]", f'interval = "{self.pace.hello} ms"', f"hold = {hold}", "[exploration]"]
        exploration = {**_TABLES, **{key: f'"{value}"' for key, value in self.pace.lifetimes.items()}}
        lines += [f"{key} = {value}" for key, value in exploration.items()]
        for host, (leaf, port) in HOSTS.items() if self.kind in ROUTED else ():
            ways = [f"d{LEAVES.index(leaf) + 1}"] if name in SPINES else [port] if leaf == name else ["u1", "u2"]
            lines += ["[[route]]", f'station = "{host_address(host)}"', f"ports = {_list(ways)}"]
        (self._run / f"{name}.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")

    def begin(self, name: str) -> None:
        """Start or restart the daemon of a switch."""
        if not (self._run / f"{name}.toml").exists():
            self.configure(name)
        words = self.spaces[name].command(
            *(self._switchd, "--config", str(self._run / f"{name}.toml")),
            *("--run-dir", str(self._run), "--pin-dir", "/sys/fs/bpf/weft", "--state-dir", str(self._run)),
        )
        with self.log_path(name).open("ab") as log:
            self._daemons[name] = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def _wait_for_socket(self, name: str) -> None:
        def forwards() -> bool:
            code = self._daemons[name].poll()
            if code is not None:
                raise RuntimeError(f"{name} is not forwarding (status {code}): {self.log(name)}")
            return (self._run / f"{name}.sock").exists()

        until(f"{name} forwards", forwards, state=lambda: self.log(name))

    def log_path(self, name: str) -> Path:
        """A daemon's log file."""
        return self._run / f"{name}.log"

    def log(self, name: str) -> str:
        """A daemon's log."""
        return self.log_path(name).read_text(encoding="utf-8", errors="replace")

    def signal(self, name: str, number: int) -> None:
        """Send a signal to the daemon of a switch (`nsenter` has become the daemon); no effect on a bridge."""
        if not self.bridged:
            os.kill(self._daemons[name].pid, number)

    def restart(self, name: str, number: int, meanwhile: Callable[[], None] = lambda: None) -> None:
        """End the daemon of a switch by a signal, and restart it after `meanwhile`; a bridge has only `meanwhile`."""
        if self.bridged:
            meanwhile()
            return
        self.signal(name, number)
        self._daemons[name].wait()
        (self._run / f"{name}.sock").unlink(missing_ok=True)
        meanwhile()
        self.begin(name)
        self._wait_for_socket(name)

    @contextlib.contextmanager
    def hung(self, name: str) -> Iterator[None]:
        """Stop a daemon (SIGSTOP) for the duration of the block."""
        self.signal(name, signal.SIGSTOP)
        self._hung.add(name)
        try:
            yield
        finally:
            self._hung.remove(name)
            self.signal(name, signal.SIGCONT)

    def guard(self) -> None:
        """Configure the fabric ports of every switch from now on."""
        for name in self.ports if not self.bridged else ():
            self.configure(name, guarded=True)
            self.signal(name, signal.SIGHUP)
        for leaf in LEAVES if not self.bridged else ():
            until("the new configuration", lambda leaf=leaf: not self._may_be_fabric(leaf, "p1"))
        self.settle()

    def tolerate_losses(self) -> None:
        """Give every switch a hold time that survives many lost Hello messages in a row."""
        for name in self.ports if not self.bridged else ():
            self.configure(name, hold=40)
            self.signal(name, signal.SIGHUP)
        self.hellos(3)

    def avoids(self, name: str, port: str) -> None:
        """Wait until a switch knows that a port's link loses frames; no effect on a bridge."""

        def knows() -> bool:
            return any(one["last_resort"] for one in self.ask(name, "ports") if one["interface"] == port)

        if not self.bridged:
            until(f"{name} knows that {port} loses frames", knows, state=lambda: self.ask(name, "ports"))

    def _may_be_fabric(self, name: str, port: str) -> bool:
        return any(one["may_be_fabric"] for one in self.ask(name, "ports") if one["interface"] == port)

    def with_stp(self) -> None:
        """Turn on STP on bridges, with the shortest timers, and wait until they forward again."""
        if self.bridged:
            # With a spine as root, the tree equals the existing topology, and every added link is blocked.
            self.spaces["spine1"].ip("link set dev br0 type bridge priority 0")
            for name in self.ports:
                self.spaces[name].ip(
                    "link set dev br0 type bridge forward_delay 200 hello_time 100 max_age 600 stp_state 1"
                )
            rooted = [name != "spine1" for name in self.ports]
            until("spine1 is the root", lambda: [bool(port) for port in self._root_ports()] == rooted)
            self.settle()

    def with_second_spine(self) -> None:
        """Connect the second spine to both leaves: bridges need STP for that."""
        self.with_stp()
        if self.bridged:
            self.spaces["leaf2"].ip("link set dev u2 up")
            self.spaces["spine2"].ip("link set dev d2 up")
            self.settle()

    def _root_ports(self) -> list[int]:
        """The port of each bridge that leads to the root of the tree, 0 of the root itself."""
        bridges = [json.loads(run("ip", "-n", name, "-json", "-details", "link", "show", "br0")) for name in self.ports]
        return [bridge["linkinfo"]["info_data"]["root_port"] for (bridge,) in bridges]

    def small_switch(self) -> None:
        """Plug both leaves into a small unmanaged switch, which drops Hello messages."""
        ports = ("eth1", "eth2")
        self.spaces["small"].ip(
            "link add name br0 type bridge",
            *(f"link set dev {port} master br0" for port in ports),
            *(f"link set dev {port} up" for port in ports),
            "link set dev br0 up",
        )
        for leaf in LEAVES:
            self.spaces[leaf].ip("link set dev y up")

    def unplug_small_switch(self) -> None:
        """Unplug the unmanaged switch."""
        for leaf in LEAVES:
            self.spaces[leaf].ip("link set dev y down")

    def remove_pins(self, name: str) -> None:
        """Delete all pins of a switch; no effect on a bridge."""
        if self.bridged:
            return
        try:
            run("rm", "-r", f"/sys/fs/bpf/weft/{name}")
        except RuntimeError as error:
            # All pins were deleted, and the daemon restored the first before their directory was.
            if "Directory not empty" not in str(error):
                raise

    def end(self) -> None:
        """Stop the daemons."""
        for daemon in self._daemons.values():
            daemon.kill()
            daemon.wait()


def _list(names: list[str]) -> str:
    return "[" + ", ".join(f'"{name}"' for name in names) + "]"
