"""What FRR needs to know of each switch: interfaces, neighbours, addresses, weights."""

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from ..emulation.plan import Cable, End, Host, Plan
from .errors import FrrError
from .systems import systems

GATEWAY = "169.254.1.1"
"""The address of a switch on each of its links to hosts, which is the hosts' gateway.

Not 169.254.0.1, with which FRR installs IPv4 routes to IPv6 neighbours.
"""
MOST_PATHS = 255
"""The most next hops of a route in FRR, as Debian builds it."""
_LOOPBACKS = ipaddress.IPv4Address("172.16.0.0")
_SCHEMES = ("ecmp", "wcmp")
_LONGEST_INTERFACE = 15
_HOST_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?", re.ASCII)


@dataclass(frozen=True)
class Port:
    """A switch's interface to a neighbour.

    Attributes:
        interface: Its name, such as ``l0-eth2``.
        neighbour: The node at the other end of the link.
        neighbour_interface: The interface there.
        host: The neighbour if it is a host, else None.
        up: Whether the link is up when the scenario starts.
        weights: For each weight, the addresses of the hosts towards which the neighbour has it for this link, beside
            other next hops.
    """

    interface: str
    neighbour: str
    neighbour_interface: str
    host: Host | None
    up: bool
    weights: Mapping[int, tuple[str, ...]] = field(default_factory=dict)

    @property
    def usual_weight(self) -> int:
        """The weight towards most hosts; 1 if the neighbour has no other next hops towards any."""
        return max(self.weights, key=lambda weight: (len(self.weights[weight]), weight), default=1)


@dataclass(frozen=True)
class Router:
    """A switch.

    Attributes:
        name: Its name.
        system: The number of its autonomous system.
        loopback: The address of its loopback interface, by which BGP identifies it.
        paths: The most next hops of its routes.
        ports: Its interfaces, in order.
        weighted: Whether it announces weights: FRR takes them from the neighbour that announces a route.
    """

    name: str
    system: int
    loopback: str
    paths: int
    ports: tuple[Port, ...]
    weighted: bool


def routers(plan: Plan) -> list[Router]:
    """The switches of a plan.

    Raises:
        FrrError: The scheme is neither `ecmp` nor `wcmp`, or a name is not valid for FRR or Linux.
    """
    if plan.scheme not in _SCHEMES:
        raise FrrError(
            f"FRR does not know the scheme `{plan.scheme}`: it routes by `ecmp`, or with weights by `wcmp`",
            "--set scheme.name=ecmp",
        )
    _check_names(plan)
    numbers = systems(plan)
    hosts = {host.name: host for host in plan.hosts}
    ports: dict[str, dict[int, Port]] = {switch.name: {} for switch in plan.switches}
    weights, weighted = _weights(plan), _is_weighted(plan)
    for cable in plan.cables:
        for end, other in cable.directions:
            if end.node in ports:
                of_port = weights.get((other.node, other.port), {})
                ports[end.node][end.port] = _port(cable, end, other, hosts, of_port)
    found = []
    for place, switch in enumerate(plan.switches):
        paths = max((len(hops) for hops in (plan.routes or {}).get(switch.name, {}).values()), default=1)
        if paths > MOST_PATHS:
            raise FrrError(f"`{switch.name}` has routes with {paths} next hops, and FRR at most {MOST_PATHS}")
        own = tuple(port for _, port in sorted(ports[switch.name].items()))
        found.append(Router(switch.name, numbers[switch.name], str(_LOOPBACKS + place + 1), paths, own, weighted))
    return found


def interface_of(end: End) -> str:
    """The name of the interface at an end of a link."""
    return f"{end.node}-eth{end.port}"


def _port(
    cable: Cable, end: End, other: End, hosts: Mapping[str, Host], weights: Mapping[int, tuple[str, ...]]
) -> Port:
    return Port(interface_of(end), other.node, interface_of(other), hosts.get(other.node), cable.up, weights)


def _check_names(plan: Plan) -> None:
    for name in (*(switch.name for switch in plan.switches), *(host.name for host in plan.hosts)):
        if not _HOST_NAME.fullmatch(name):
            raise FrrError(
                f"`{name}` is not a valid host name: letters, digits and hyphens, not at its ends",
                "rename the node in the fabric file",
            )
    for end in (end for cable in plan.cables for end in cable.ends):
        if len(name := interface_of(end)) > _LONGEST_INTERFACE:
            raise FrrError(
                f"the interface `{name}` has {len(name)} characters, and Linux allows {_LONGEST_INTERFACE}",
                f"give `{end.node}` a shorter name in the fabric file",
            )


def _is_weighted(plan: Plan) -> bool:
    """Whether any next hops of a route have different weights."""
    return any(len(set(group)) > 1 for groups in (plan.weights or {}).values() for group in groups.values())


def _weights(plan: Plan) -> dict[tuple[str, int], dict[int, tuple[str, ...]]]:
    """The weights of each port by switch and port, where it is one of several next hops."""
    addresses = {host.name: host.address for host in plan.hosts}
    found: dict[tuple[str, int], dict[int, list[str]]] = {}
    for switch, groups in (plan.weights or {}).items():
        for host, group in groups.items():
            if len(group) > 1:
                for port, weight in zip((plan.routes or {})[switch][host], group, strict=True):
                    found.setdefault((switch, port), {}).setdefault(weight, []).append(addresses[host])
    return {place: {weight: tuple(to) for weight, to in weights.items()} for place, weights in found.items()}
