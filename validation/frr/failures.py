"""Failures of a link: with the loss of its carrier, or silent."""

from __future__ import annotations

from .fabric import FrrFabric, command

KINDS = ("carrier", "silent")
"""`carrier`: one end is shut, so that the other loses its carrier; `silent`: both ends drop what arrives."""
_DROP_ALL = ("bpf", "direct-action", "bytecode", "1,6 0 0 2")
"""A filter of one instruction, which returns the verdict to drop."""


def fail(fabric: FrrFabric, node: str, interface: str, kind: str) -> None:
    """Fail the link at an interface; with `carrier`, `node` is the end that loses it."""
    other, other_interface = fabric.ends[node, interface]
    if kind == "carrier":
        fabric.ip(other, "link", "set", other_interface, "down")
        return
    ends = ((node, interface), (other, other_interface))
    for switch, device in ends:
        command("tc", "-n", switch, "qdisc", "add", "dev", device, "clsact")
    for switch, device in ends:
        command("tc", "-n", switch, "filter", "add", "dev", device, "ingress", *_DROP_ALL)


def heal(fabric: FrrFabric, node: str, interface: str, kind: str) -> None:
    """Undo `fail`."""
    other, other_interface = fabric.ends[node, interface]
    if kind == "carrier":
        fabric.ip(other, "link", "set", other_interface, "up")
        return
    for switch, device in ((node, interface), (other, other_interface)):
        command("tc", "-n", switch, "qdisc", "delete", "dev", device, "clsact")
