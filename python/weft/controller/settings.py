"""What a controller is told when it starts, and what of it the core is told."""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..labels import plural
from ..topology import Fabric, network
from .address import Address
from .errors import ControllerError
from .tls import Tls

FORWARDING = ("smoc", "spanning-tree")
ORDERS = ("paper", "disjoint")
_PROACTIVE = 4
"""Paths that are installed at once, where nothing else is asked for."""


@dataclass(frozen=True)
class Settings:
    """How a controller runs; what is left out has the default of the command line.

    Attributes:
        listen: Where switches connect to.
        control: The Unix socket over which `weft controller show` asks.
        metrics: Where Prometheus asks; None for nowhere.
        forwarding: One of `FORWARDING`.
        paths: How many paths a set has.
        proactive: How many of them are installed as soon as a connection is seen; None for 4, or all of fewer.
        order: One of `ORDERS`.
        idle_timeout_s: After how long without a packet a flow's rules go.
        fabric: The network as it should be.
        lldp_interval_s: Between two LLDP frames of a port.
        lldp_misses: So many of them lost in a row, and the link counts as lost.
        install_deadline_s: A switch that does not confirm rules for that long has failed to install them.
        probe_s: A switch that is silent for that long is asked whether it is there, and given up after twice that.
        packets_per_port_s: More packets a second from one port of a switch are dropped.
        tls: The files of TLS; None for plain TCP.
        answer_s: So long a connected switch has to show that it is there when another one has its datapath id.
    """

    listen: Address
    control: Path
    metrics: Address | None = None
    forwarding: str = "smoc"
    paths: int = 8
    proactive: int | None = None
    order: str = "paper"
    idle_timeout_s: int = 10
    fabric: Expected | None = None
    lldp_interval_s: float = 1.0
    lldp_misses: int = 3
    install_deadline_s: float = 2.0
    probe_s: float = 5.0
    packets_per_port_s: float = 5000.0
    tls: Tls | None = None
    answer_s: float = 2.0

    def __post_init__(self) -> None:
        """Check what must fit together.

        Raises:
            ControllerError: More paths are to be installed at once than a set has.
        """
        if self.proactive is not None and self.proactive > self.paths:
            raise ControllerError(
                f"--proactive {self.proactive}: a set has {plural(self.paths, 'path')} only",
                f"--proactive {self.paths}, or --paths {self.proactive}",
            )

    def for_core(self) -> str:
        """The settings of the core, as `weft._weft.Controller` takes them."""
        return json.dumps(
            {
                "controller": self.forwarding,
                "paths": self.paths,
                "proactive_paths": min(_PROACTIVE, self.paths) if self.proactive is None else self.proactive,
                "order": self.order,
                "idle_timeout_s": self.idle_timeout_s,
                # The shell's deadline comes first and says which switch it was; the core's is for a shell that is late.
                "install_deadline_s": self.install_deadline_s + 1,
                "hash_key": secrets.randbits(63),
                "fabric": None if self.fabric is None else self.fabric.for_core(),
            }
        )


@dataclass(frozen=True)
class Expected:
    """The network as a fabric file says it should be.

    Attributes:
        name: Of the fabric.
        switches: Datapath ids by name.
        cables: Pairs of names of switches; parallel cables stand as often as there are.
    """

    name: str
    switches: dict[str, int]
    cables: Sequence[tuple[str, str]]

    @classmethod
    def read(cls, path: Path) -> Expected:
        """Read a fabric file, or the fabric of a scenario.

        Raises:
            ScenarioError: It cannot be read or describes no usable fabric.
            ControllerError: A switch's name tells no datapath id, or two tell the same.
        """
        return cls.of(network(path), path)

    @classmethod
    def of(cls, fabric: Fabric, path: Path) -> Expected:
        """The switches and the cables between them."""
        names = [node.name for node in fabric.switches]
        if not names:
            raise ControllerError(f"{path}: there is no switch in it", "a fabric file with at least one switch")
        try:
            switches = dpids_of(names)
        except ControllerError as error:
            raise ControllerError(f"{path}: {error}", error.hint) from None
        # Every cable stands in `links` once a direction, the two next to each other in no certain order.
        ends = [(link.source, link.target) for link in fabric.links if link.up]
        cables = [(a, b) for a, b in ends if a in switches and b in switches and a < b]
        return cls(fabric.name, switches, cables)

    def for_core(self) -> dict[str, Any]:
        """As the settings of the core have it; any port will do."""
        return {
            "switches": [{"name": name, "dpid": dpid} for name, dpid in self.switches.items()],
            "cables": [{"a": {"switch": a, "port": None}, "b": {"switch": b, "port": None}} for a, b in self.cables],
        }


def dpids_of(names: Sequence[str]) -> dict[str, int]:
    """The datapath ids of all switches of a network, by name.

    They are what `dpid_of` says if that is another one for each. Where it is not, as in Weft's own fabrics (`e0`, `a0`,
    `c0`), and every name is of at most four letters and a number, the letters count too: their ASCII codes stand before
    the number (`e3` is 0x65 and 3: 0000006500000003).

    Raises:
        ControllerError: A name tells none, or two tell the same.
    """
    plain = {name: dpid_of(name) for name in names}
    if None not in plain.values() and len(set(plain.values())) == len(names):
        return {name: dpid for name, dpid in plain.items() if dpid is not None}
    parts = {name: re.fullmatch(r"([A-Za-z]{1,4})(0|[1-9][0-9]{0,8})", name) for name in names}
    found = {
        name: int.from_bytes(part[1].encode("ascii"), "big") << 32 | int(part[2])
        for name, part in parts.items()
        if part is not None
    }
    if len(found) == len(names):
        return found
    named: dict[int, str] = {}
    for name, dpid in plain.items():
        if dpid is None:
            raise ControllerError(
                f"the name of switch `{name}` tells no datapath id",
                "end it with the number (`s1` is 1), or name the switch by its datapath id, 16 hexadecimal digits",
            )
        if dpid in named:
            raise ControllerError(
                f"switches `{named[dpid]}` and `{name}` have the same datapath id, {dpid:016x}",
                "end their names with different numbers, or have all names be letters, at most four, and a number",
            )
        named[dpid] = name
    raise ControllerError("two switches have the same name", "a name of its own for each")


def dpid_of(name: str) -> int | None:
    """The datapath id that the name of a switch tells: itself, or the number at its end, which is Mininet's rule."""
    if re.fullmatch(r"[0-9a-fA-F]{16}", name):
        return int(name, 16) or None
    digits = re.search(r"[0-9]+$", name)
    number = int(digits[0]) if digits else 0
    return number if 0 < number < 2**64 else None


def default_control() -> Path:
    """The control socket of this user's controller."""
    if os.geteuid() == 0:
        return Path("/run/weft/controller.sock")
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    return Path(runtime or f"/tmp/weft-{os.geteuid()}") / "weft-controller.sock"
