"""Fat-trees with switches named as in the Tag-and-Forward paper: es1, as1, cs1."""

from __future__ import annotations

import json


def fat_tree(k: int, *, routers: bool = False, cores: dict[tuple[int, int], int] | None = None) -> str:
    """A fabric file; with `routers` each core has one. `cores` redirects links, by switch and place."""
    half = k // 2
    cables = [(f"h{host}", f"es{host // half + 1}") for host in range(k * half * half)]
    for pod in range(k):
        for edge in range(half):
            cables += [(f"es{pod * half + edge + 1}", f"as{pod * half + up + 1}") for up in range(half)]
    for switch in range(1, k * half + 1):
        for place in range(half):
            core = (cores or {}).get((switch, place), (switch - 1) % half * half + place + 1)
            cables.append((f"as{switch}", f"cs{core}"))
    cables += [(f"cs{core + 1}", f"x{core}") for core in range(half * half if routers else 0)]
    names = dict.fromkeys(name for cable in cables for name in cable)
    nodes = [{"id": name, "role": "host" if name[0] in "hx" else "switch"} for name in names]
    edges = [{"source": a, "target": b} for a, b in cables]
    return json.dumps({"directed": False, "multigraph": False, "graph": {}, "nodes": nodes, "edges": edges})
