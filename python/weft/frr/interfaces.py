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
    for node in (*(switch.name for switch in plan.switches), *hosts):
        for end, other, up in sorted(_ends(plan, node), key=lambda found: found[0].port):
            prefix = _prefix(end, other, hosts)
            rows.writerow(
                (
                    node,
                    end.port,
                    interface_of(end),
                    other.node,
                    interface_of(other),
                    prefix,
                    end.rate_bps,
                    str(up).lower(),
                )
            )
    return text.getvalue()


def _ends(plan: Plan, node: str) -> list[tuple[End, End, bool]]:
    """The ends of links at a node, each with the other end and whether the link is up."""
    pairs = ((pair, cable.up) for cable in plan.cables for pair in (cable.ends, cable.ends[::-1]))
    return [(end, other, up) for (end, other), up in pairs if end.node == node]


def _prefix(end: End, other: End, hosts: Mapping[str, Host]) -> str:
    host = hosts.get(end.node) or hosts.get(other.node)
    return f"{host.address}/32" if host else ""
