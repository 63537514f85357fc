"""A bridge of Open vSwitch, and the arguments of `ovs-vsctl` that create it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .errors import EmulationError


@dataclass(frozen=True)
class Bridge:
    """A switch; its name has at most 15 characters, as an interface has the same.

    `ports` are interfaces of the namespace by OpenFlow port number, from 1 to 65279 (0xfeff), `controllers` such as
    `tcp:127.0.0.1:6653`. `probe_ms`: inactivity probe of their connections, 5000 or more; 0: never.
    """

    name: str
    dpid: int
    ports: Mapping[int, str]
    controllers: Sequence[str] = ()
    protocols: Sequence[str] = ("OpenFlow13",)
    probe_ms: int = 5000


def check_bridge(bridge: Bridge) -> None:
    """Raise `EmulationError` if Open vSwitch does not accept a bridge's name, datapath id or a port number."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_.-]{0,14}", bridge.name):
        raise EmulationError(
            f"`{bridge.name}` is not a valid bridge name: a letter, then at most 14 letters, digits or `_.-`"
        )
    if not 0 < bridge.dpid < 2**64:
        raise EmulationError(f"bridge {bridge.name}: {bridge.dpid} is not a valid datapath id: must be 1 to 2^64 - 1")
    for number in bridge.ports:
        if not 1 <= number <= 0xFEFF:
            raise EmulationError(f"bridge {bridge.name}: port {number} must be 1 to 65279")


def words_of(bridge: Bridge, datapath_type: str) -> list[str]:
    """Arguments of `ovs-vsctl` that create a bridge, in one transaction."""
    words = ["add-br", bridge.name, "--", "set", "bridge", bridge.name]
    words += [f"datapath_type={datapath_type}", "fail_mode=secure"]
    words += [f"other-config:datapath-id={bridge.dpid:016x}", f"protocols={','.join(bridge.protocols)}"]
    # No in-band control: frames to the bridge's own address are not part of the network.
    words += ["other-config:disable-in-band=true", "mcast_snooping_enable=false"]
    for number, interface in sorted(bridge.ports.items()):
        words += ["--", "add-port", bridge.name, interface, "--", "set", "interface", interface]
        words.append(f"ofport_request={number}")
    if bridge.ports:
        # Without this the daemon removes the qdiscs of `shaping` from the interfaces (ovs-vswitchd.conf.db(5), QoS).
        words += ["--", "--id=@theirs", "create", "qos", "type=linux-noop"]
        words += [
            word for interface in bridge.ports.values() for word in ("--", "set", "port", interface, "qos=@theirs")
        ]
    return words


def controller_words(bridge: Bridge) -> list[str]:
    """Arguments of `ovs-vsctl` that connect a bridge to its controllers."""
    ids = [f"@controller{number}" for number in range(len(bridge.controllers))]
    words = ["set", "bridge", bridge.name, f"controller=[{','.join(ids)}]"]
    for ident, target in zip(ids, bridge.controllers, strict=True):
        words += ["--", f"--id={ident}", "create", "controller", f'target="{target}"']
        words += [f"inactivity_probe={bridge.probe_ms}", "max_backoff=1000"]
    return words
