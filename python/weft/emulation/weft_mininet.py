"""`WeftSwitch`: the Linux switch for any Mininet: `mn --custom weft_mininet.py --switch weft,mode=tcp-path`.

This file needs only Mininet and Python's standard library, because `mn` reads it with the system's Python. Each switch
is a separate `weft-switchd`, with socket, log and configuration in the run directory, and its programs pinned in its
own directory.
"""

from __future__ import annotations

import http.client
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from mininet.log import error
from mininet.node import Switch

READY_S = 60.0
"""Timeout in seconds for a daemon to attach its program and respond: that of `timeouts.py`."""
RUN_DIR = "/run/weft"
"""Default directory of control sockets: that of `sockets.py`."""
_LOOK_S = 0.05
"""Polling interval for a daemon that is not ready, in seconds."""
_END_S = 5.0
"""Timeout in seconds for a daemon to stop."""
_HELLO_KEYS = {"hello": "interval", "hold": "hold"}
"""Scheme parameters that belong to the section `[hello]` of the daemon's configuration."""
_LOG_LINES = 5
"""Number of last log lines quoted in an error."""


class ControlError(Exception):
    """A switch did not start, or refused a request; the message quotes it."""


class Connection(http.client.HTTPConnection):
    """HTTP over the control socket of a switch."""

    def __init__(self, path: Path, timeout: float | None) -> None:
        """Connects to the socket at `path`."""
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        """Connect to the socket instead of a port."""
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._path))


class WeftSwitch(Switch):  # type: ignore[misc]
    """A switch of an exploring fabric, or one with configured routes.

    Args:
        mode: `arp-path`, `tcp-path`, `tfe`, `ecmp` or `spray`.
        switch_id: 16 hexadecimal digits, different on every switch; default: derived from a MAC address.
        tier: Tier of the switch, 1 next to the hosts; default: explorations are flooded everywhere.
        parameters: The scheme's parameters, with the names in `weft schemes`; for `mn`, separate arguments
            (`--switch weft,mode=tcp-path,exploration=full`).
        routes: For modes with configured routes: port numbers for each host's MAC address.
        run_dir: Directory for sockets, logs and configuration.
        pin_dir: Directory in a BPF file system for pinned maps and programs.
    """

    def __init__(
        self,
        name: str,
        mode: str = "tcp-path",
        switch_id: str | None = None,
        tier: int | None = None,
        parameters: dict[str, Any] | None = None,
        routes: dict[str, list[int]] | None = None,
        run_dir: str = RUN_DIR,
        pin_dir: str = "/sys/fs/bpf/weft",
        **params: Any,
    ) -> None:
        known = {"inNamespace", "listenPort", "dpid", "opts", "batch"}
        given = {key: params.pop(key) for key in list(params) if key not in known and key not in _NODE_PARAMETERS}
        super().__init__(name, **params)
        self.mode = mode.replace("_", "-")
        self.switch_id = switch_id
        self.tier = tier
        self.parameters = {**(parameters or {}), **given}
        self.routes = routes
        self.run_dir, self.pin_dir = Path(run_dir), Path(pin_dir)
        self.process: subprocess.Popen[bytes] | None = None
        self.ports_by_number: dict[int, Any] = {}

    def defaultDpid(self, dpid: str | None = None) -> str:  # noqa: N802 (Mininet calls it)
        """Required by Mininet; without OpenFlow, any value works."""
        return dpid or "0" * int(self.dpidLen)

    @classmethod
    def setup(cls) -> None:
        """Check that the daemon is installed; Mininet calls this once."""
        program("weft-switchd")

    @property
    def socket_path(self) -> Path:
        """Path of the control socket."""
        return self.run_dir / f"{self.name}.sock"

    @property
    def log_path(self) -> Path:
        """Path of the daemon's log."""
        return self.run_dir / f"{self.name}.log"

    def start(self, controllers: Any) -> None:
        """Start the daemon; `batchStartup` waits for it."""
        self.run_dir.mkdir(parents=True, exist_ok=True)
        self.ports_by_number = {port: intf for port, intf in sorted(self.intfs.items()) if intf.name != "lo"}
        for intf in self.ports_by_number.values():
            _without_checksum_offload(intf)
        config = self.run_dir / f"{self.name}.toml"
        config.write_text(self.configuration(), encoding="utf-8")
        if self.routes is not None:
            self.write_routes(self.routes)
        command = [program("weft-switchd"), "--config", str(config)]
        command += ["--run-dir", str(self.run_dir), "--pin-dir", str(self.pin_dir)]
        with self.log_path.open("wb") as log:
            # A separate session, so that Ctrl-C at Mininet's prompt does not reach switches.
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )
        if not self.params.get("batch"):
            self.wait()
            self.settle()

    @classmethod
    def batchStartup(cls, switches: Any, run: Any = None) -> Any:  # noqa: N802 (Mininet calls it)
        """Wait until every switch forwards and knows the roles of its ports."""
        for switch in switches:
            switch.wait()
        for switch in switches:
            switch.settle()
        return switches

    def wait(self) -> None:
        """Wait until the daemon responds, which it does once the data plane forwards.

        Raises `ControlError` if it exited, or did not respond in time.
        """
        if self.process is None:
            return
        until = time.monotonic() + READY_S
        while True:
            if self.process.poll() is not None:
                raise ControlError(f"weft-switchd of {self.name} exited during startup: {self.last_words()}")
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
                if probe.connect_ex(str(self.socket_path)) == 0:
                    return
            if time.monotonic() > until:
                raise ControlError(f"weft-switchd of {self.name} is not ready after {READY_S:g} s: {self.last_words()}")
            time.sleep(_LOOK_S)

    def settle(self) -> None:
        """Wait until it is known for each port whether a switch is behind it: until then it forwards nothing.

        Raises `ControlError` after a timeout.
        """
        until = time.monotonic() + READY_S
        while any(port["role"] == "listening" for port in self.ask("ports")):
            if time.monotonic() > until:
                raise ControlError(f"ports of {self.name} are still listening after {READY_S:g} s: {self.last_words()}")
            time.sleep(_LOOK_S)

    def connected(self) -> bool:
        """Whether it forwards."""
        return self.process is not None and self.process.poll() is None and self.socket_path.exists()

    def last_words(self) -> str:
        """The end of the daemon's log."""
        lines = self.log_path.read_text(encoding="utf-8", errors="replace").splitlines()
        return " | ".join(lines[-_LOG_LINES:]) or "it logged nothing"

    def configuration(self) -> str:
        """The daemon's configuration file."""
        ports = [intf.name for intf in self.ports_by_number.values()]
        lines = [f"name = {json.dumps(self.name)}", f"mode = {json.dumps(self.mode)}", f"ports = {json.dumps(ports)}"]
        if self.switch_id is not None:
            lines.append(f"switch_id = {json.dumps(self.switch_id)}")
        if self.tier is not None:
            lines.append(f"tier = {int(self.tier)}")
        if self.routes is not None:
            lines.append(f"routes_file = {json.dumps(str(self.routes_path))}")
        hello = {key: self.parameters[key] for key in ("hello", "hold") if key in self.parameters}
        if hello:
            lines += ["[hello]", *(f"{_HELLO_KEYS[name]} = {_toml(value)}" for name, value in hello.items())]
        scheme = {key: value for key, value in self.parameters.items() if key not in hello}
        if scheme:
            section = "tags" if self.mode in ("tag-forward", "flow-table") else "exploration"
            lines += [f"[{section}]", *(f"{name} = {_toml(value)}" for name, value in scheme.items())]
        return "\n".join(lines) + "\n"

    @property
    def routes_path(self) -> Path:
        """Path of the routes file."""
        return self.run_dir / f"{self.name}.routes.toml"

    def write_routes(self, routes: dict[str, list[int]]) -> None:
        """Write next hops, ports by the hosts' MAC addresses; a running daemon reads them on `reload`."""
        tables = []
        for station, ports in routes.items():
            names = [self.ports_by_number[port].name for port in ports]
            tables.append(f"[[route]]\nstation = {json.dumps(station)}\nports = {json.dumps(names)}\n")
        temporary = self.routes_path.with_suffix(".new")
        temporary.write_text("\n".join(tables), encoding="utf-8")
        temporary.replace(self.routes_path)

    def ask(self, what: str, method: str = "GET", timeout: float = 10.0) -> Any:
        """Query the control socket (docs/switchd.md), e.g. `net["s1"].ask("ports")`.

        Raises `ControlError` if it refused, or does not respond.
        """
        connection = Connection(self.socket_path, timeout)
        try:
            connection.request(method, f"/v1/{what}")
            answer = connection.getresponse()
            body = answer.read().decode()
        except OSError as error:
            raise ControlError(f"{self.name} does not answer: {error}") from error
        finally:
            connection.close()
        if not 200 <= answer.status < 300:
            raise ControlError(f"{self.name} refused `{what}` ({answer.status}): {body.strip()}")
        return json.loads(body) if body.strip() else None

    def follow(self, what: str) -> tuple[socket.socket, Any]:
        """The switch's stream `what` (`trace`), line by line, and the socket, to be shut down to end it.

        Raises `ControlError` if it refused, or does not respond.
        """
        connection = Connection(self.socket_path, None)
        try:
            connection.request("GET", f"/v1/{what}")
            there = connection.sock
            answer = connection.getresponse()
        except OSError as error:
            raise ControlError(f"{self.name} does not answer: {error}") from error
        if answer.status != 200:
            connection.close()
            raise ControlError(f"{self.name} refused `{what}` ({answer.status})")
        return there, answer

    def drain(self, port: Any, undo: bool = False) -> Any:
        """Drain a port, e.g. `s1-eth2`, or undo it."""
        return self.ask(f"ports/{port}/drain", "DELETE" if undo else "POST")

    def stop(self, deleteIntfs: bool = True) -> None:  # noqa: N803 (Mininet names it)
        """Remove the data plane and stop the daemon."""
        if self.process is not None:
            if self.process.poll() is None:
                try:
                    self.ask("down", "POST", timeout=_END_S)
                except ControlError as refusal:
                    error(f"{refusal}\n")
                self.process.terminate()
            try:
                self.process.wait(_END_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            self.process = None
            if (self.pin_dir / self.name).exists():
                self._detach()
        super().stop(deleteIntfs)

    def _detach(self) -> None:
        """Remove the leftovers of a killed daemon with the program that knows its pins."""
        command = [program("weft-switchd"), "--name", self.name, "--detach"]
        command += ["--run-dir", str(self.run_dir), "--pin-dir", str(self.pin_dir)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            error(f"{self.name}: {done.stderr}\n")


_NODE_PARAMETERS = frozenset(("ip", "mac", "privateDirs", "waitExited", "name", "cls", "isSwitch"))
"""Parameters of Mininet's nodes, besides named arguments."""


def program(name: str) -> str:
    """The path of a Weft program: in `PATH`, else in the environment that this file belongs to.

    Raises `ControlError` if it is not found.
    """
    # `mn` runs this file with `exec`, so there is no `__file__`; the code object has the path.
    here = Path(program.__code__.co_filename).resolve()
    beside = [parent / folder for parent in here.parents for folder in ("bin", ".venv/bin")]
    places = [str(Path(sys.executable).parent), *map(str, beside), os.environ.get("PATH", ""), "/usr/sbin"]
    found = shutil.which(name, path=":".join(places))
    if found is None:
        raise ControlError(f"{name} not found: `make emulation` in Weft's directory builds it")
    return found


def _without_checksum_offload(intf: Any) -> None:
    """Disable checksum offload at the other end of a switch's port: no device here would compute checksums."""
    if intf.link is None:
        return
    other = intf.link.intf2 if intf.link.intf1 is intf else intf.link.intf1
    if not isinstance(other.node, Switch):
        other.node.cmd(f"ethtool -K {other.name} tx off")


def _toml(value: Any) -> str:
    """A parameter as TOML; `mn` passes numbers as text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    text = str(value)
    return text if isinstance(value, int) or text in ("true", "false") or text.isdecimal() else json.dumps(text)


switches = {"weft": WeftSwitch}
"""The dictionary that `mn --custom` reads."""
