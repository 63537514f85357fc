"""The switches under comparison: the Linux bridge, Open vSwitch, and Weft in each of its modes."""

import json
import os
import shutil
import signal
import socket
import subprocess
from abc import ABC, abstractmethod
from pathlib import Path

from benches.switch.lab import BINARIES, Lab, LabError, Space, end, run, wait_for
from weft.sockets import RUN_DIR

MODES = ("arp-path", "tcp-path", "tfe", "ecmp", "spray")
PINS = Path("/sys/fs/bpf/weft")


class Switch(ABC):
    """A switch in a namespace of its own."""

    finishes_checksums = True
    """Whether hosts may offload checksums, and thus segmentation, to the interface."""

    def __init__(self, lab: Lab, name: str) -> None:
        self.name = name
        self.lab = lab
        self.space: Space = lab.space(name)

    @abstractmethod
    def start(self, ports: list[str]) -> None:
        """Makes the namespace's interfaces `ports` ports of the switch."""


class Bridge(Switch):
    """The Linux bridge, without netfilter; `stp` is its forward delay, hello and maximum age in seconds."""

    def __init__(
        self, lab: Lab, name: str, stp: tuple[float, float, float] | None = None, priority: int = 32768
    ) -> None:
        super().__init__(lab, name)
        self.stp = stp
        self.priority = priority

    def start(self, ports: list[str]) -> None:
        """Also turns off netfilter and multicast snooping, which would slow it down."""
        bridge = ["ip", "-n", self.space.name, "link"]
        run(*bridge, "add", "br0", "type", "bridge", "mcast_snooping", "0")
        for family in ("ip", "ip6", "arp"):
            if Path(f"/proc/sys/net/bridge/bridge-nf-call-{family}tables").exists():
                self.space.set(f"net.bridge.bridge-nf-call-{family}tables", "0")
        if self.stp:
            delay, hello, age = (str(round(100 * seconds)) for seconds in self.stp)
            timers = ["forward_delay", delay, "hello_time", hello, "max_age", age]
            run(*bridge, "set", "br0", "type", "bridge", "priority", str(self.priority))
            run(*bridge, "set", "br0", "type", "bridge", "stp_state", "1", *timers)
        for port in ports:
            run(*bridge, "set", port, "master", "br0")
        run(*bridge, "set", "br0", "up")


class OpenVSwitch(Switch):
    """Open vSwitch with the userspace datapath and a private database."""

    finishes_checksums = False

    def start(self, ports: list[str]) -> None:
        """Starts ovsdb-server and ovs-vswitchd in the switch's namespace."""
        place = Path("/run/ovs") / self.name
        place.mkdir(parents=True)
        database, remote = str(place / "conf.db"), f"unix:{place}/db.sock"
        run("ovsdb-tool", "create", database, "/usr/share/openvswitch/vswitch.ovsschema")
        control = f"--unixctl={place}"
        environment = {**os.environ, "OVS_RUNDIR": str(place), "OVS_LOGDIR": str(place)}
        self.space.start(
            "ovsdb-server", database, f"--remote=p{remote}", f"{control}/db.ctl", log=place / "db.log", env=environment
        )
        wait_for("ovsdb-server", (place / "db.sock").exists)
        configure = ["ovs-vsctl", f"--db={remote}", "--timeout=20"]
        run(*configure, "--no-wait", "init")
        self.space.start("ovs-vswitchd", remote, f"{control}/switch.ctl", log=place / "switch.log", env=environment)
        bridge = ["add-br", "br0", "--", "set", "bridge", "br0", "datapath_type=netdev"]
        for port in ports:
            bridge += ["--", "add-port", "br0", port]
        run(*configure, *bridge)


class Weft(Switch):
    """weft-switchd in one of its modes."""

    def __init__(self, lab: Lab, name: str, mode: str, settings: str = "") -> None:
        super().__init__(lab, name)
        self.mode = mode
        self.settings = settings
        self.ports: list[str] = []
        self.daemon: subprocess.Popen[str] | None = None

    @property
    def socket(self) -> Path:
        """The daemon's control socket."""
        return RUN_DIR / f"{self.name}.sock"

    def start(self, ports: list[str]) -> None:
        """Writes the configuration and starts the daemon."""
        self.ports = ports
        names = ", ".join(f'"{port}"' for port in ports)
        config = RUN_DIR / f"{self.name}.toml"
        config.write_text(f'name = "{self.name}"\nmode = "{self.mode}"\nports = [{names}]\n{self.settings}')
        self.launch()

    def launch(self) -> None:
        """Starts the daemon and waits for its control socket."""
        command = [str(BINARIES / "weft-switchd"), "--config", str(RUN_DIR / f"{self.name}.toml")]
        command += ["--run-dir", str(RUN_DIR), "--pin-dir", str(PINS)]
        daemon = self.space.start(*command, log=RUN_DIR / f"{self.name}.log")
        self.daemon = daemon
        wait_for(f"weft-switchd {self.name}", lambda: daemon.poll() is not None or self.serves())
        if daemon.poll() is not None:
            raise LabError(f"weft-switchd {self.name} ended: {(RUN_DIR / f'{self.name}.log').read_text().strip()}")

    def serves(self) -> bool:
        """Whether the control socket accepts a connection."""
        with socket.socket(socket.AF_UNIX) as client:
            try:
                client.connect(str(self.socket))
            except OSError:
                return False
        return True

    def kill(self) -> None:
        """Kills the daemon with SIGKILL; the data plane stays."""
        if self.daemon:
            self.daemon.send_signal(signal.SIGKILL)
            self.daemon.wait()

    def stop(self) -> None:
        """Stops the daemon with SIGTERM, as an administrator would; the data plane stays."""
        if self.daemon:
            end([self.daemon])

    def dropped(self, reason: str) -> int:
        """Frames that the data plane has dropped for `reason`."""
        shown = run(str(BINARIES / "weftctl"), "--socket", str(self.socket), "--json", "show", "counters")
        return int(json.loads(shown)["dropped"].get(reason, 0))


def is_there(command: str) -> bool:
    """Whether a program is installed."""
    return shutil.which(command) is not None
