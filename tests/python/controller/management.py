"""Management networks that can be cut: a controller in a namespace of its own, switches reach it through routers.

    switches ------------------------ controller
    switch s1 ------- router -------- controller

A router that does not forward drops packets in silence: no interface goes down, and neither end notices.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from lab import Controller
from weft.emulation.namespace import entered, setting

ADDRESS = "10.202.0.2"
"""The controller's address for switches whose connection is not cut."""
_SPACE = "manager"
"""The namespace of the controllers."""


class Management:
    """The networks between switches and controllers; those of `switches` can be cut, each on its own."""

    def __init__(self, switches: Sequence[str]) -> None:
        """Create namespaces, interfaces and routes in a jail."""
        _ip(f"netns add {_SPACE}")
        _ip(f"link add direct type veth peer name direct netns {_SPACE}")
        _address("direct", "10.202.0.1/30")
        _address("direct", f"{ADDRESS}/30", _SPACE)
        self._numbers = {switch: number for number, switch in enumerate(switches, 1)}
        for switch, number in self._numbers.items():
            router = f"router-{switch}"
            _ip(f"netns add {router}")
            _ip(f"link add to-{switch} type veth peer name below netns {router}")
            _ip(f"-n {_SPACE} link add to-{switch} type veth peer name above netns {router}")
            _address(f"to-{switch}", f"10.200.{number}.1/30")
            _address("below", f"10.200.{number}.2/30", router)
            _address("above", f"10.201.{number}.2/30", router)
            _address(f"to-{switch}", f"10.201.{number}.1/30", _SPACE)
            _ip(f"route add 10.201.{number}.0/30 via 10.200.{number}.2")
            _ip(f"-n {_SPACE} route add 10.200.{number}.0/30 via 10.201.{number}.2")
            self._forward(switch, "1")

    def controller(self, *arguments: str, port: int) -> Controller:
        """Start a controller that all switches can reach."""
        with entered(_path(_SPACE)):
            return Controller("--listen", f":{port}", *arguments, port=port)

    def targets(self, switch: str, *ports: int) -> list[str]:
        """Where a switch reaches the controllers on these ports."""
        number = self._numbers.get(switch)
        address = ADDRESS if number is None else f"10.201.{number}.1"
        return [f"tcp:{address}:{port}" for port in ports]

    def cut(self, switch: str) -> None:
        """Drop all packets between a switch and the controllers from now on."""
        self._forward(switch, "0")

    def heal(self, switch: str) -> None:
        """Pass packets again."""
        self._forward(switch, "1")

    def _forward(self, switch: str, value: str) -> None:
        with entered(_path(f"router-{switch}")):
            setting("net.ipv4.ip_forward").write_text(value, encoding="ascii")


def _path(space: str) -> str:
    return str(Path("/run/netns") / space)


def _ip(words: str) -> None:
    subprocess.run(["ip", *words.split()], check=True)


def _address(interface: str, address: str, space: str | None = None) -> None:
    where = "" if space is None else f"-n {space} "
    _ip(f"{where}address add {address} dev {interface}")
    _ip(f"{where}link set {interface} up")
