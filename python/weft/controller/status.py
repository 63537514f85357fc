"""Status of a running controller: the core's state, and that of the shell around it."""

import json
from typing import Any

from .service import Service

WHAT = ("status", "switches", "connections", "paths", "stations")
"""The available queries."""


def show(service: Service, what: str, limit: int) -> dict[str, Any]:
    """The state named by one of `WHAT`, with at most `limit` rows."""
    if what == "status":
        return _status(service, limit)
    shown: dict[str, Any] = json.loads(service.core.show(what, limit))
    if what == "switches":
        _add_waiting(service, shown, limit)
        _add_connections(service, shown)
        shown["refused"] = service.unsuitable.rows(service.now, limit)
    return shown


def _status(service: Service, limit: int) -> dict[str, Any]:
    service.collect()
    settings, discovery = service.settings, service.discovery
    return {
        "status": {
            "forwarding": settings.forwarding,
            "listen": str(settings.listen),
            "up_s": round(service.now - service.since, 1),
            "switches": sum(switch.is_ready for switch in service.switches.values()),
            "links": discovery.links,
            "installing": service.core.installing(),
            "path_set_up": service.set_up.quantiles(),
            "path_set_ups_s": service.set_up.last(limit),
        },
        "counters": counters(service),
    }


def counters(service: Service) -> dict[str, int]:
    """All counters by name; sizes end in `_now`."""
    return {
        **service.core.counters(),
        **service.counts,
        **{f"lldp_{name}": count for name, count in service.discovery.counts.items()},
        "links_now": service.discovery.links,
        "transactions_now": service.core.installing(),
    }


def _add_waiting(service: Service, shown: dict[str, Any], limit: int) -> None:
    """Add switches that have another master: the core does not know those that it never controlled."""
    waiting = {dpid for dpid, switch in service.switches.items() if switch.is_waiting}
    if not waiting:
        return
    rows = all_rows = shown["switches"]
    if shown["total"] > len(rows):
        all_rows = json.loads(service.core.show("switches", shown["total"]))["switches"]
    unknown = sorted(waiting - {row["dpid"] for row in all_rows})
    named = ({"dpid": dpid, "name": service.name(dpid), "up": False, "stations": 0} for dpid in unknown)
    rows += [{**row, "ports": []} for row in named][: limit - len(rows)]
    shown["total"] += len(unknown)


def _add_connections(service: Service, shown: dict[str, Any]) -> None:
    for row in shown["switches"]:
        switch = service.switches.get(row["dpid"])
        row["connection"] = "none" if switch is None else switch.stage.value
        row["address"] = None if switch is None else switch.peer
        row["software"] = None if switch is None else switch.software
        row["connected_s"] = None if switch is None else round(service.now - switch.since, 1)
        for port in row.get("ports", ()):
            known = None if switch is None else switch.ports.get(port["port"])
            port["name"] = None if known is None else known.name
