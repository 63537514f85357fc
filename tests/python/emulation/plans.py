"""Handwritten plans."""

from __future__ import annotations

import copy
import json
from typing import Any

from weft.emulation.plan import Plan

END = {
    "rate_bps": 10_000_000,
    "delay_ps": 0,
    "queue_packets": 100,
    "queue_bytes": None,
    "queue": "100 packets",
    "overhead": "ethernet",
}


def plan_of(**changes: Any) -> Plan:
    """Two hosts at one switch, with a flow; `changes` replaces parts of the plan, `end` properties of all links."""
    end = END | changes.pop("end", {})
    data = {
        "id": "run",
        "label": "",
        "name": "two hosts",
        "seed": 1,
        "hosts": [
            {"name": f"h{n}", "mac": f"02:00:00:00:00:0{n}", "address": f"10.0.0.{n + 1}", "prefix": 8} for n in (0, 1)
        ],
        "switches": [{"name": "l0", "id": "00000000000000a0", "tier": 1, "pod": None, "ports": 2}],
        "links": [
            {"a": {"node": f"h{n}", "port": 0} | end, "b": {"node": "l0", "port": n} | end, "up": True} for n in (0, 1)
        ],
        "flows": [flow(0, "h0", "h1", 0.0)],
        "scheme": {"name": "tcp_path", "params": {"arp_cache": "60 s"}},
        "transport": {"profile": "linux", "congestion": "cubic", "parameters": {}},
        "run": {"duration_ps": 10**12, "limit_ps": 10**13, "seed": 1},
        "measure": {"interval_ps": 10**11, "window_ps": [0, 10**12]},
        "events": [],
        "reroutes": [],
        "routes": None,
    }
    return Plan.from_json(json.dumps(data | copy.deepcopy(changes)))


def flow(number: int, src: str, dst: str, start_s: float, size: int = 100_000) -> dict[str, Any]:
    """A flow of a plan."""
    return {
        "flow": number,
        "src": src,
        "dst": dst,
        "sport": 40_000 + number,
        "dport": 5_000,
        "bytes": size,
        "dscp": 0,
        "start_ps": round(start_s * 1e12),
    }
