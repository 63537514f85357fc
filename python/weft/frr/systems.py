"""The autonomous system of each switch.

As in RFC 7938, switches next to the hosts have one each, and switches of one tier and pod share one. BGP refuses routes
that contain its own number, so no path goes up, down and up again after a failure. Where shortest paths pass two
switches that would share a number, as in fabrics without tiers, each switch of that tier and pod has a number of its
own.
"""

from collections.abc import Hashable, Iterator

from ..emulation.plan import Plan, Routes

_FIRST = 4_200_000_000
"""The first private number of four bytes (RFC 6996)."""


def systems(plan: Plan) -> dict[str, int]:
    """The number of each switch, by name."""
    group_of: dict[str, Hashable] = {
        switch.name: switch.name if switch.tier <= 1 else (switch.tier, switch.pod) for switch in plan.switches
    }
    while repeated := _repeated(plan, group_of):
        group_of |= {name: name for name, group in group_of.items() if group in repeated}
    groups = dict.fromkeys(group_of.values())
    numbers = {group: _FIRST + place for place, group in enumerate(groups)}
    return {name: numbers[group] for name, group in group_of.items()}


def _repeated(plan: Plan, group_of: dict[str, Hashable]) -> set[Hashable]:
    """The groups of which a shortest path passes two switches."""
    found: set[Hashable] = set()
    routes = plan.routes or {}
    behind: dict[str, dict[int, str]] = {end.node: {} for cable in plan.cables for end in cable.ends}
    for cable in plan.cables:
        for end, other in cable.directions:
            behind[end.node][end.port] = other.node
    for host in _one_of_each_place(plan, routes):
        passed: dict[str, set[Hashable]] = {host: set()}
        for switch in _nearest_first(routes, behind, host):
            further = [passed[behind[switch][port]] for port in routes[switch][host]]
            passed[switch] = set().union(*further)
            if group_of[switch] in passed[switch]:
                found.add(group_of[switch])
            passed[switch].add(group_of[switch])
    return found


def _one_of_each_place(plan: Plan, routes: Routes) -> list[str]:
    """One host of those that are attached to the same switches: the paths to the others are the same."""
    places: dict[frozenset[str], str] = {}
    names = plan.host_names
    attached: dict[str, set[str]] = {host.name: set() for host in plan.hosts}
    for cable in plan.cables:
        for end, other in cable.directions:
            if end.node in names and cable.up:
                attached[end.node].add(other.node)
    for host, switches in attached.items():
        places.setdefault(frozenset(switches), host)
    return list(places.values())


def _nearest_first(routes: Routes, behind: dict[str, dict[int, str]], host: str) -> Iterator[str]:
    """The switches with a route to a host, each after its next hops."""
    done = {host}
    waiting = [switch for switch, hosts in routes.items() if host in hosts]
    while waiting:
        ready = [s for s in waiting if all(behind[s][port] in done for port in routes[s][host])]
        yield from ready
        done |= set(ready)
        waiting = [switch for switch in waiting if switch not in done]
