"""A private Open vSwitch for an emulation: database and daemon in the jail, bridges that speak OpenFlow.

It uses only the programs of the machine's Open vSwitch: database, sockets and logs are in the caller's directory. The
kernel forwards frames if it has Open vSwitch's datapath, else the daemon does (`datapath`). An `OpenVSwitch` is one
`ovs-vswitchd` in the network namespace of the thread that starts it, with any number of bridges; there can be one per
namespace. Without rules from a controller, a bridge forwards nothing (`fail_mode=secure`).

A daemon that forwards itself sends the frames of all its ports through one socket, and a frame counts against that
socket's buffer until it has left its link; when it is full, frames are dropped although the link's queue has room. So
the buffers of these sockets are made larger than all queues together (`_widen`).
"""

import os
import re
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from .bridge import Bridge, check_bridge, controller_words, words_of
from .errors import EmulationError
from .packet_sockets import packet_sockets
from .requirements import program, required
from .timeouts import READY_S

PROGRAMS = ("ovsdb-tool", "ovsdb-server", "ovs-vswitchd", "ovs-vsctl", "ovs-ofctl", "ovs-appctl")
"""Programs from the Debian and Ubuntu packages openvswitch-switch and openvswitch-common."""
SCHEMA = Path("/usr/share/openvswitch/vswitch.ovsschema")
"""The database schema installed by these packages."""
KERNEL, USER_SPACE = "system", "netdev"
"""Open vSwitch's names for forwarding by the kernel and by its daemon."""
_OWN_INTERFACES = {KERNEL: "ovs-system", USER_SPACE: "ovs-netdev"}
"""Created by a daemon with a bridge of that datapath type."""
_NOBODYS_FRAME = "ffffffffffff0657000000ff88b5" + 46 * "00"
"""A frame in hexadecimal with an EtherType for experiments (IEEE 802), which is ignored here."""
SEND_BUFFER, RECEIVE_BUFFER = 32 * 2**20, 2**20
"""Bytes: more than all queues of an emulated fabric hold; about 400 frames waiting at a port."""
_SO_SNDBUFFORCE, _SO_RCVBUFFORCE = 32, 33
"""From <asm-generic/socket.h>; Python does not define them."""
_NETLINK_GENERIC, _NLM_F_REQUEST, _NLMSG_ERROR = 16, 1, 2
_GENL_ID_CTRL, _CTRL_CMD_GETFAMILY, _CTRL_ATTR_FAMILY_NAME = 16, 3, 2
"""From <linux/netlink.h> and <linux/genetlink.h>."""
_END_S = 5.0
"""Timeout in seconds for a daemon to stop."""
_LOOK_S = 0.02
"""Polling interval in seconds."""
_LOG_LINES = 5
"""Number of last log lines quoted in an error."""


@dataclass
class OpenVSwitch:
    """One `ovsdb-server` with one `ovs-vswitchd`; a context manager that starts and stops them.

    `directory`, of their files, is created if missing; in a jail below /run.
    """

    directory: Path
    _daemons: list[subprocess.Popen[bytes]] = field(default_factory=list)
    _datapath: str = USER_SPACE

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Start both in the network namespace of this thread and wait until they serve.

        Raises `EmulationError` if Open vSwitch is not installed, or a daemon does not start.
        """
        check()
        for interface in {name for _, name in socket.if_nameindex()} & set(_OWN_INTERFACES.values()):
            raise EmulationError(
                f"interface {interface} exists: another ovs-vswitchd runs in this network namespace",
                "add the bridges to it, or start this one in another namespace",
            )
        self._datapath = datapath()
        self.directory.mkdir(parents=True, exist_ok=True)
        database = self.directory / "conf.db"
        _run([required("ovsdb-tool"), "create", str(database), str(SCHEMA)])
        try:
            self._launch("ovsdb-server", [str(database), f"--remote=p{self._remote}"], lambda: self._socket.is_socket())
            self._configure("--no-wait", "init")
            self._launch("ovs-vswitchd", [self._remote], lambda: bool(self._datapath_types()))
        except EmulationError:
            self.stop()
            raise

    def stop(self) -> None:
        """Stop both daemons, the switch first, and remove the bridges' interfaces. Idempotent."""
        while self._daemons:
            daemon = self._daemons.pop()
            if self._daemons:
                # Stopped by a signal, it would leave interfaces behind.
                command = [*self._appctl, f"--timeout={_END_S:.0f}", "exit", "--cleanup"]
                subprocess.run(command, capture_output=True, check=False)
            else:
                daemon.send_signal(signal.SIGTERM)
            try:
                daemon.wait(_END_S)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()

    def add(self, bridges: Iterable[Bridge]) -> None:
        """Create bridges and wait until they and all their ports exist; then they connect to their controllers.

        Raises `EmulationError` if a name or port is not valid, or an interface is missing.
        """
        for bridge in bridges:
            check_bridge(bridge)
            self._configure(*words_of(bridge, self._datapath))
            # ovs-vsctl may succeed although an interface cannot be opened; only the database shows the error.
            wrong = self._port_errors(bridge)
            if wrong:
                self.remove(bridge.name)
                raise EmulationError(f"bridge {bridge.name}: {'; '.join(wrong)}")
            if self._datapath == USER_SPACE and bridge.ports:
                # The sending socket is created with the first frame.
                first = f"in_port=controller,packet={_NOBODYS_FRAME},actions=output:{min(bridge.ports)}"
                _run([*self._ofctl("packet-out", bridge.name), first])
                self._widen()
            if bridge.controllers:
                self._configure(*controller_words(bridge))

    def remove(self, name: str) -> None:
        """Remove a bridge, as if the switch failed: its ports stay as interfaces, without a switch.

        Raises `EmulationError` if there is no such bridge.
        """
        self._configure("del-br", name)

    def connected(self, name: str) -> bool:
        """Whether a bridge has a connection to one of its controllers.

        Raises `EmulationError` if there is no such bridge.
        """
        controllers = self._configure("get", "bridge", name, "controller").strip("[]\n ")
        ids = controllers.split(", ") if controllers else []
        return any(self._configure("get", "controller", one, "is_connected").strip() == "true" for one in ids)

    def wait_connected(self, names: Iterable[str], limit_s: float = READY_S) -> None:
        """Wait until bridges are connected to a controller.

        Raises `EmulationError` if one is not within `limit_s` seconds.
        """
        for name in names:
            _wait(f"switch {name} not connected to its controller", lambda name=name: self.connected(name), limit_s)  # type: ignore[misc]

    def add_rules(self, bridge: str, rules: Iterable[str], limit_s: float = READY_S) -> None:
        """Add rules as `ovs-ofctl add-flows` takes them, e.g. `priority=10,in_port=1,actions=output:2`.

        Raises `EmulationError` if one of them is refused, or they take more than `limit_s` seconds.
        """
        _run([*self._ofctl("add-flows", bridge, limit_s), "-"], "\n".join(rules) + "\n", limit_s)

    def count(self, bridge: str) -> int:
        """Number of rules of a bridge. Raises `EmulationError` if there is no such bridge."""
        said = _run(self._ofctl("dump-aggregate", bridge))
        return int(said.rpartition("flow_count=")[2])

    def cached(self) -> int:
        """Number of flows in the datapath of all bridges. Raises `EmulationError` if the switch does not respond."""
        said = _run([*self._appctl, "dpctl/show"])
        match = re.search(r"^ *flows: (\d+)$", said, re.MULTILINE)
        return int(match.group(1)) if match else 0

    def rules(self, bridge: str) -> list[str]:
        """The rules of a bridge as `ovs-ofctl dump-flows` prints them.

        Raises `EmulationError` if there is no such bridge.
        """
        lines = _run(self._ofctl("dump-flows", bridge)).splitlines()
        return [line.strip() for line in lines if "cookie=" in line]

    def set_port(self, bridge: str, port: int, *, up: bool) -> None:
        """Set an OpenFlow port administratively up or down; its link keeps its carrier.

        Raises `EmulationError` if there is no such bridge or port.
        """
        _run([*self._ofctl("mod-port", bridge), str(port), "up" if up else "down"])

    def log(self) -> str:
        """The switch's log."""
        try:
            return (self.directory / "ovs-vswitchd.log").read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""

    def _last_words(self) -> str:
        return " / ".join(self.log().splitlines()[-_LOG_LINES:]) or "the switch logged nothing"

    @property
    def _socket(self) -> Path:
        return self.directory / "db.sock"

    @property
    def _remote(self) -> str:
        return f"unix:{self._socket}"

    @property
    def _appctl(self) -> list[str]:
        return [required("ovs-appctl"), f"--target={self.directory}/ovs-vswitchd.ctl"]

    def _configure(self, *words: str) -> str:
        return _run([required("ovs-vsctl"), f"--db={self._remote}", f"--timeout={READY_S:.0f}", *words])

    def _ofctl(self, what: str, bridge: str, limit_s: float = READY_S) -> list[str]:
        control = self.directory / f"{bridge}.mgmt"
        if not control.is_socket():
            raise EmulationError(f"no bridge {bridge} in {self.directory}")
        return [required("ovs-ofctl"), "-O", "OpenFlow13", f"--timeout={limit_s:.0f}", what, f"unix:{control}"]

    def _datapath_types(self) -> str:
        return self._configure("--no-wait", "get", "Open_vSwitch", ".", "datapath_types").strip("[]\n ")

    def _port_errors(self, bridge: Bridge) -> list[str]:
        wrong = []
        for number, interface in bridge.ports.items():
            found = self._configure("get", "interface", interface, "ofport", "error").split("\n")
            if found[0] != str(number):
                error = found[1].strip('[]"') or f"does not exist: {self._last_words()}"
                wrong.append(f"port {number} ({interface}): {error}")
        return wrong

    def _widen(self) -> None:
        """Enlarge the buffers of the daemon's packet sockets, for which it has no setting."""
        for packet_socket in packet_sockets(self._daemons[-1].pid):
            with packet_socket:
                packet_socket.setsockopt(socket.SOL_SOCKET, _SO_SNDBUFFORCE, SEND_BUFFER)
                packet_socket.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, RECEIVE_BUFFER)

    def _launch(self, name: str, words: list[str], serves: Callable[[], bool]) -> None:
        log = self.directory / f"{name}.log"
        own = {"OVS_RUNDIR": str(self.directory), "OVS_LOGDIR": str(self.directory), "OVS_DBDIR": str(self.directory)}
        control = f"--unixctl={self.directory / name}.ctl"
        with log.open("wb") as sink:
            daemon = subprocess.Popen(
                [required(name), *words, control, "-vsyslog:off", "-vconsole:warn"],
                env={**os.environ, **own},
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=sink,
            )
        self._daemons.append(daemon)

        def there() -> bool:
            if daemon.poll() is not None:
                said = " / ".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-_LOG_LINES:])
                raise EmulationError(f"{name} exited with code {daemon.returncode}: {said or 'no output'}")
            return serves()

        _wait(f"{name} does not serve", there, READY_S)


def check() -> None:
    """Check that Open vSwitch is installed. Raises `EmulationError` if a program or the database schema is missing."""
    missing = [name for name in PROGRAMS if program(name) is None]
    if not SCHEMA.is_file():
        missing.append(str(SCHEMA))
    if missing:
        raise EmulationError(
            f"Open vSwitch is not installed: missing {', '.join(missing)}",
            "`make emulation` installs the packages openvswitch-switch and openvswitch-common (Debian, Ubuntu)",
        )


def datapath() -> str:
    """`system` if the kernel has Open vSwitch's datapath (loading its module if needed), else `netdev`."""
    return KERNEL if sys.platform == "linux" and has_family("ovs_datapath") else USER_SPACE


def has_family(name: str) -> bool:
    """Whether the kernel has a generic netlink family, loading its module if possible."""
    word = name.encode("ascii") + b"\0"
    attribute = struct.pack("=HH", 4 + len(word), _CTRL_ATTR_FAMILY_NAME) + word + b"\0" * (-len(word) % 4)
    payload = struct.pack("=BBH", _CTRL_CMD_GETFAMILY, 1, 0) + attribute
    message = struct.pack("=IHHII", 16 + len(payload), _GENL_ID_CTRL, _NLM_F_REQUEST, 1, 0) + payload
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_GENERIC) as asking:
        asking.settimeout(READY_S)
        asking.sendto(message, (0, 0))
        answer = asking.recv(65536)
    return bool(struct.unpack_from("=H", answer, 4)[0] != _NLMSG_ERROR)


def version() -> str:
    """The version of Open vSwitch, e.g. `3.1.0`. Raises `EmulationError` if it is not installed."""
    check()
    said = _run([required("ovs-vswitchd"), "--version"])
    match = re.search(r"\(Open vSwitch\) (\S+)", said)
    return match.group(1) if match else said.strip()


def _wait(what: str, condition: Callable[[], bool], limit_s: float) -> None:
    until = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() > until:
            raise EmulationError(f"{what} after {limit_s:g} s")
        time.sleep(_LOOK_S)


def _run(command: list[str], text: str | None = None, limit_s: float = READY_S) -> str:
    try:
        done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=limit_s + 5, check=False)
    except subprocess.TimeoutExpired as late:
        raise EmulationError(f"{Path(command[0]).name} took more than {late.timeout:g} s") from late
    if done.returncode != 0:
        said = done.stderr.strip() or done.stdout.strip()
        raise EmulationError(f"{Path(command[0]).name}: {said or f'exit code {done.returncode}'}")
    return done.stdout
