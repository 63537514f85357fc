"""A trial in its jail: `python -m validation.frr.inside DIRECTORY`.

It reads `options.json` (``scenario``: the text; ``repeats``: failures of each kind) and writes `observed.json`, or
`failed.json`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from functools import partial
from itertools import permutations
from pathlib import Path
from typing import Any

from weft import _weft
from weft.emulation.capacity import go_first
from weft.emulation.inside import main, say
from weft.emulation.namespace import entered
from weft.emulation.plan import Plan
from weft.frr.directory import export
from weft.frr.routers import interface_of
from weft.scenario import Scenario

from .fabric import FrrFabric, Groups, command, namespace, until
from .failures import KINDS, fail, heal
from .probes import Probes

_PLACES = ("first", "last")
"""The link that fails: the first or the last one between switches on the path of the probes."""


def run(directory: Path, options: dict[str, Any]) -> None:
    """Bring the fabric up, compare its routes, ping, fail links, and write the observations."""
    scenario = Scenario.from_text(options["scenario"])
    export(scenario, None, directory / "export")
    fabric = FrrFabric(directory / "export")
    wanted = groups_of(Plan.from_json(_weft.plan(*scenario.source, scenario.points()[0].id)))
    go_first()
    fabric.build()
    begin = time.monotonic()
    fabric.start()
    loaded = time.monotonic()
    found = _wait(fabric, wanted)
    up = time.monotonic()
    observed: dict[str, Any] = {
        "daemons_s": loaded - begin,
        "up_s": up - loaded,
        "wanted": wanted,
        "found": found,
        "unreachable": _unreachable(fabric),
        "reactions": _reactions(fabric, wanted, options["repeats"]),
        "version": command("vtysh", "-N", fabric.switches[0], "-c", "show version").split()[1],
    }
    (directory / "observed.json").write_text(json.dumps(observed), encoding="utf-8")
    say("done")


def groups_of(plan: Plan) -> Groups:
    """The next hops of a plan, with their weights."""
    addresses = {host.name: host.address for host in plan.hosts}
    interfaces = {(end.node, end.port): interface_of(end) for cable in plan.cables for end in cable.ends}
    found: Groups = {}
    for switch, routes in (plan.routes or {}).items():
        found[switch] = {}
        for host, ports in routes.items():
            weights = plan.weights[switch][host] if plan.weights else [1] * len(ports)
            names = [interfaces[switch, port] for port in ports]
            found[switch][addresses[host]] = dict(zip(names, weights, strict=True))
    return found


def _wait(fabric: FrrFabric, wanted: Groups) -> Groups:
    """Wait until all links are up and all switches have the next hops of Weft's routes; returns these, with weights."""

    def hops(routes: Mapping[str, dict[str, int]]) -> dict[str, set[str]]:
        return {to: set(group) for to, group in routes.items()}

    def others(groups: Groups) -> Groups:
        return {switch: routes for switch, routes in groups.items() if hops(routes) != hops(wanted[switch])}

    def there() -> Groups | None:
        groups = fabric.groups()
        return groups if not others(groups) and fabric.neighbours_up() else None

    return until("the fabric is up", there, lambda: others(fabric.groups())) or {}


def _unreachable(fabric: FrrFabric) -> list[tuple[str, str]]:
    """The pairs of hosts of which none of three pings is answered."""
    found = []
    for source, destination in permutations(fabric.hosts, 2):
        with entered(namespace(source)):
            ping = ["ping", "-n", "-c", "3", "-i", "0.2", "-W", "5", fabric.hosts[destination]]
            done = subprocess.run(ping, stdout=subprocess.DEVNULL, check=False)
        if done.returncode != 0:
            found.append((source, destination))
    return found


def _reactions(fabric: FrrFabric, wanted: Groups, repeats: int) -> list[dict[str, Any]]:
    """The times without probes after failures, from the first host to the last."""
    source, destination = next(iter(fabric.hosts)), list(fabric.hosts)[-1]
    found = []
    cases = [(kind, place) for _ in range(repeats) for kind in KINDS for place in _PLACES]
    for number, (kind, place) in enumerate(cases):
        say("stage", stage="failing links", fraction=number / len(cases))
        with Probes(fabric, source, destination) as probes:
            until("probes arrive", partial(probes.arrives_after, 0))
            path = _path(fabric, source, destination)
            node, interface = path[0] if place == "first" else path[-1]
            first = probes.sent
            fail(fabric, node, interface, kind)
            failed = probes.sent
            until("probes arrive again", partial(probes.arrives_after, failed))
            silence = probes.silence_s(first)
        found.append({"kind": kind, "place": place, "link": interface, "seconds": silence})
        heal(fabric, node, interface, kind)
        _wait(fabric, wanted)
    return found


def _path(fabric: FrrFabric, source: str, destination: str) -> list[tuple[str, str]]:
    """The links between switches that the probes take now, as node and interface that sends."""
    before = _sent(fabric)
    time.sleep(0.2)
    grown = {end: packets - before[end] for end, packets in _sent(fabric).items()}
    path = []
    node = source
    while node != destination:
        node, interface = max((end for end in grown if end[0] == node), key=lambda end: grown[end])
        if fabric.is_between(node, interface):
            path.append((node, interface))
        node = fabric.ends[node, interface][0]
    return path


def _sent(fabric: FrrFabric) -> dict[tuple[str, str], int]:
    """Packets that each interface has sent."""
    return {
        (node, link["ifname"]): link["stats64"]["tx"]["packets"]
        for node in (*fabric.switches, *fabric.hosts)
        for link in json.loads(fabric.ip(node, "-json", "-stats", "link"))
        if link["ifname"] != "lo"
    }


if __name__ == "__main__":
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    os._exit(main(Path(sys.argv[1]), run))
