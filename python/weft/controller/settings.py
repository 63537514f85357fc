"""Settings of a controller, and the part of them for its core."""

from __future__ import annotations

import json
import logging
import os
import re
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..catalogue import controller_settings
from ..labels import plural
from ..sockets import RUN_DIR
from ..topology import Fabric, network
from .address import Address
from .errors import ControllerError
from .tls import Tls

_log = logging.getLogger(__name__)

MASTER = "master"
METRICS_PORT = 19466
"""Recommended TCP port of the metrics; docs/monitoring.md gives the reason."""
_DEFAULTS = {name: setting["default"] for name, setting in controller_settings().items()}


@dataclass(frozen=True)
class Settings:
    """Settings of a controller; defaults are those of the command line.

    Attributes:
        listen: Address that switches connect to.
        control: The Unix socket for `weft controller show`.
        metrics: Address for Prometheus metrics; None to disable.
        forwarding: `smoc` or `spanning-tree`.
        paths: Number of paths per set.
        proactive: Number of them installed as soon as a connection is seen; None for the default (at most `paths`).
        order: `paper` or `disjoint`.
        reverse: `same` or `own`: the path of a subflow's reverse direction.
        pick: `least-used` or `next`: the path of its set that a subflow takes.
        idle_timeout_s: Idle timeout of a flow's rules.
        fabric: The expected network.
        role: `master` or `standby`, which waits until no other controller is active.
        lldp_interval_s: Interval between LLDP frames of a port.
        lldp_misses: Consecutive lost LLDP frames after which a link is down.
        install_deadline_s: Time within which a switch must confirm rules; after it, the installation has failed.
        probe_s: The connection of a switch is closed after twice this time without a message.
        tls: TLS files; None for plain TCP.
        answer_s: Time within which a connected switch must respond when another one claims its datapath id.
    """

    listen: Address
    control: Path
    metrics: Address | None = None
    forwarding: str = _DEFAULTS["controller"]
    paths: int = _DEFAULTS["paths"]
    proactive: int | None = None
    order: str = _DEFAULTS["order"]
    reverse: str = _DEFAULTS["reverse"]
    pick: str = _DEFAULTS["pick"]
    idle_timeout_s: int = _DEFAULTS["idle_timeout_s"]
    fabric: Expected | None = None
    role: str = MASTER
    lldp_interval_s: float = 1.0
    lldp_misses: int = 3
    install_deadline_s: float = _DEFAULTS["install_deadline_s"]
    probe_s: float = 5.0
    tls: Tls | None = None
    answer_s: float = 2.0

    def __post_init__(self) -> None:
        """Check that the settings are consistent. Raises `ControllerError` if `proactive` exceeds `paths`."""
        if self.proactive is not None and self.proactive > self.paths:
            raise ControllerError(
                f"--proactive {self.proactive}: a set has only {plural(self.paths, 'path')}",
                f"--proactive {self.paths}, or --paths {self.proactive}",
            )

    def for_core(self) -> str:
        """The core's settings, in the format of `weft._weft.Controller`."""
        return json.dumps(
            {
                "controller": self.forwarding,
                "paths": self.paths,
                "proactive_paths": self.proactive or min(_DEFAULTS["proactive_paths"], self.paths),
                "order": self.order,
                "reverse": self.reverse,
                "pick": self.pick,
                "idle_timeout_s": self.idle_timeout_s,
                "install_deadline_s": self.install_deadline_s,
                "hash_key": secrets.randbits(63),
                # Cookies hold eleven bits of it; it differs between runs within a minute.
                "epoch": int(time.time()) * 32 % 2048,
                "fabric": None if self.fabric is None else self.fabric.for_core(),
            }
        )


@dataclass(frozen=True)
class Expected:
    """The expected network, from a fabric file: datapath ids by name, and a pair of switches for each link."""

    name: str
    switches: dict[str, int]
    cables: Sequence[tuple[str, str]]

    @classmethod
    def read(cls, path: Path) -> Expected:
        """Read a fabric file, or the fabric of a scenario.

        Raises `ScenarioError` if the file cannot be read or is not a usable fabric, `ControllerError` if a switch name
        implies no datapath id, or two imply the same one.
        """
        fabric = network(path)
        for warning in fabric.warnings:
            _log.warning("%s", warning)
        return cls.of(fabric, path)

    @classmethod
    def of(cls, fabric: Fabric, path: Path) -> Expected:
        """The switches of a fabric and the links between them."""
        names = [node.name for node in fabric.switches]
        if not names:
            raise ControllerError(f"{path}: the fabric has no switches", "a fabric file with at least one switch")
        try:
            switches = dpids_of(names)
        except ControllerError as error:
            raise ControllerError(f"{path}: {error}", error.hint) from None
        # Every link is in `links` once per direction, adjacent, in either order.
        ends = [(link.source, link.target) for link in fabric.links if link.up]
        cables = [(a, b) for a, b in ends if a in switches and b in switches and a < b]
        return cls(fabric.name, switches, cables)

    def for_core(self) -> dict[str, Any]:
        """The network in the format of the core's settings, with any ports."""
        return {
            "switches": [{"name": name, "dpid": dpid} for name, dpid in self.switches.items()],
            "cables": [{"a": {"switch": a, "port": None}, "b": {"switch": b, "port": None}} for a, b in self.cables],
        }


def dpids_of(names: Sequence[str]) -> dict[str, int]:
    """The datapath ids of all switches of a network, by name.

    They are the results of `dpid_of` if these are distinct. Otherwise, as in Weft's own fabrics (`e0`, `a0`, `c0`), if
    every name is at most four letters and a number, the letters' ASCII codes precede the number (`e3` is 0x65 and 3:
    0000006500000003). Raises `ControllerError` if a name implies no datapath id, or two imply the same one.
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
                f"the switch name `{name}` implies no datapath id",
                "end it with a number (`s1` is 1), or use the datapath id as the name, 16 hexadecimal digits",
            )
        if dpid in named:
            raise ControllerError(
                f"switches `{named[dpid]}` and `{name}` have the same datapath id, {dpid:016x}",
                "end their names with different numbers, or use at most four letters and a number for all names",
            )
        named[dpid] = name
    raise ControllerError("two switches have the same name", "a different name for each")


def dpid_of(name: str) -> int | None:
    """The datapath id implied by a switch name: the name itself, or the number at its end, as in Mininet."""
    if re.fullmatch(r"[0-9a-fA-F]{16}", name):
        return int(name, 16) or None
    digits = re.search(r"[0-9]+$", name)
    number = int(digits[0]) if digits else 0
    return number if 0 < number < 2**64 else None


def default_control() -> Path:
    """The control socket of this user's controller."""
    if os.geteuid() == 0:
        return RUN_DIR / "controller.sock"
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    return Path(runtime or f"/tmp/weft-{os.geteuid()}") / "weft-controller.sock"
