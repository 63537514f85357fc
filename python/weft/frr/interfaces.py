"""The table of all ports: interface, neighbour, and the hosts' addresses."""

import csv
import io
from collections.abc import Mapping

from ..emulation.plan import End, Host, Plan
from .routers import interface_of

COLUMNS = ("node", "port", "interface", "neighbour", "neighbour_interface", "prefix", "rate_bps", "up")
"""The columns: ``prefix`` is that of the host at either end, ``rate_bps`` is for what leaves the port."""


def interfaces(plan: Plan) -> str:
    """The table as CSV, a row for each end of each link, by node and port."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(COLUMNS)
    hosts = {host.name: host for host in plan.hosts}
    places = {name: place for place, name in enumerate((*(switch.name for switch in plan.switches), *hosts))}
    pairs = [(pair, cable.up) for cable in plan.cables for pair in cable.directions]
    for (end, other), up in sorted(pairs, key=lambda found: (places[found[0][0].node], found[0][0].port)):
        there = (other.node, interface_of(other), _prefix(end, other, hosts))
        rows.writerow((end.node, end.port, interface_of(end), *there, end.rate_bps, str(up).lower()))
    return text.getvalue()


def _prefix(end: End, other: End, hosts: Mapping[str, Host]) -> str:
    host = hosts.get(end.node) or hosts.get(other.node)
    return f"{host.address}/32" if host else ""
