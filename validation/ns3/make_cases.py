#!/usr/bin/env python3
"""Write cases/: the fabrics, the flow lists and the table of runs (cases/runs.csv) of the ns-3 reference.

Standard library only, fixed seeds, and from `random` only `Random.random`, which Python keeps stable across versions:
the files are the same everywhere. Run it after changing something here; the files are committed.
"""

from __future__ import annotations

import bisect
import csv
import itertools
import math
import random
from dataclasses import dataclass
from pathlib import Path

CASES = Path(__file__).parent / "cases"
GBPS = 1_000_000_000
US = 1_000_000  # picoseconds
NS = 1_000
SECOND = 1_000_000_000_000
DPORT = 80

# Web search (DCTCP) flow sizes: bytes and cumulative probability, cut at 10 MB; the 3 % above lie between 5 and 10 MB.
WEB_SEARCH = [
    (0, 0.0), (10_000, 0.15), (20_000, 0.2), (30_000, 0.3), (50_000, 0.4), (80_000, 0.53),
    (200_000, 0.6), (1_000_000, 0.7), (2_000_000, 0.8), (5_000_000, 0.9), (10_000_000, 1.0),
]  # fmt: skip


@dataclass(frozen=True)
class Link:
    """A link line of a fabric file; rate, delay and queue hold for both directions."""

    a: str
    b: str
    rate_bps: int
    delay_ps: int
    queue_packets: int


@dataclass(frozen=True)
class Flow:
    """A flow between two hosts, by name."""

    src: str
    dst: str
    bytes: int
    start_ps: int


def size_class(size: int) -> str:
    """Name a size: mouse below 10 kB, elephant above 1 MB, rabbit between."""
    return "mouse" if size < 10_000 else "elephant" if size > 1_000_000 else "rabbit"


def fat_tree(k: int, rate_bps: int, delay_ps: int, queue_packets: int) -> tuple[list[str], list[str], list[Link]]:
    """Hosts, switches and links of a k-ary fat-tree.

    Host i is attached to edge i / (k/2); aggregation j of a pod to the cores j * k/2 to (j + 1) * k/2 - 1.
    """
    half = k // 2
    hosts = [f"h{i}" for i in range(k * half * half)]
    edges = [f"e{i}" for i in range(k * half)]
    aggregations = [f"a{i}" for i in range(k * half)]
    cores = [f"c{i}" for i in range(half * half)]
    ends = [(host, edges[i // half]) for i, host in enumerate(hosts)]
    for pod in range(k):
        ends += [(edges[pod * half + e], aggregations[pod * half + a]) for e in range(half) for a in range(half)]
    for pod in range(k):
        ends += [(aggregations[pod * half + a], cores[a * half + c]) for a in range(half) for c in range(half)]
    links = [Link(a, b, rate_bps, delay_ps, queue_packets) for a, b in ends]
    return hosts, edges + aggregations + cores, links


def spine_leaf(
    spines: int, leaves: int, hosts_per_leaf: int, rate_bps: int, delay_ps: int, queue_packets: int
) -> tuple[list[str], list[str], list[Link]]:
    """Hosts, switches and links of a two-tier fabric; host i is attached to leaf i / hosts_per_leaf."""
    hosts = [f"h{i}" for i in range(leaves * hosts_per_leaf)]
    leaf_names = [f"l{i}" for i in range(leaves)]
    spine_names = [f"s{i}" for i in range(spines)]
    ends = [(host, leaf_names[i // hosts_per_leaf]) for i, host in enumerate(hosts)]
    ends += [(leaf, spine) for leaf in leaf_names for spine in spine_names]
    links = [Link(a, b, rate_bps, delay_ps, queue_packets) for a, b in ends]
    return hosts, leaf_names + spine_names, links


def lone_flows(src: str, dst: str) -> list[Flow]:
    """One flow of each size on an idle path, ten seconds apart."""
    sizes = [1_000, 10_000, 100_000, 1_000_000, 10_000_000]
    return [Flow(src, dst, size, i * 10 * SECOND) for i, size in enumerate(sizes)]


def draw_size(rng: random.Random) -> int:
    """A web-search flow size, linear between the knots, at least one byte."""
    u = rng.random()
    i = bisect.bisect_right([p for _, p in WEB_SEARCH], u)
    (x0, p0), (x1, p1) = WEB_SEARCH[i - 1], WEB_SEARCH[i]
    return max(1, int(x0 + (x1 - x0) * (u - p0) / (p1 - p0)))


def mean_size() -> float:
    """Mean of `draw_size`, bytes."""
    return sum((p1 - p0) * (x0 + x1) / 2 for (x0, p0), (x1, p1) in itertools.pairwise(WEB_SEARCH))


def web_search(
    hosts: list[str], hosts_per_leaf: int, uplink_bps: int, load: float, count: int, seed: int
) -> list[Flow]:
    """Poisson arrivals between random hosts of different leaves, offering `load` of all leaves' uplinks together."""
    rng = random.Random(seed)
    gap_s = mean_size() * 8 / (load * uplink_bps)
    now, flows = 0.0, []
    for _ in range(count):
        now += -math.log(1.0 - rng.random()) * gap_s
        src = int(rng.random() * len(hosts))
        dst = src
        while dst // hosts_per_leaf == src // hosts_per_leaf:
            dst = int(rng.random() * len(hosts))
        flows.append(Flow(hosts[src], hosts[dst], draw_size(rng), int(now * 1e9) * NS))
    return flows


def permutation(hosts: list[str], seed: int) -> list[Flow]:
    """Each host sends 2 MB to another and receives 2 MB, while 20 flows of 200 kB start at random times."""
    rng = random.Random(seed)
    while True:
        order = sorted(hosts, key=lambda _: rng.random())
        if all(a != b for a, b in zip(hosts, order, strict=True)):
            break
    # Up to 1 us of jitter: with hosts in lockstep, the order of simultaneous events would decide the drops.
    flows = [Flow(a, b, 2_000_000, int(rng.random() * 1000) * NS) for a, b in zip(hosts, order, strict=True)]
    for _ in range(20):
        src = int(rng.random() * len(hosts))
        dst = (src + 1 + int(rng.random() * (len(hosts) - 1))) % len(hosts)
        flows.append(Flow(hosts[src], hosts[dst], 200_000, int(rng.random() * 40e6) * NS))
    return sorted(flows, key=lambda flow: flow.start_ps)


def write_fabric(name: str, hosts: list[str], switches: list[str], links: list[Link]) -> None:
    """Write a fabric file: node lines, hosts first, then link lines."""
    with (CASES / f"{name}.fabric.csv").open("w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerows(("node", host, "host") for host in hosts)
        rows.writerows(("node", switch, "switch") for switch in switches)
        rows.writerows(("link", e.a, e.b, e.rate_bps, e.delay_ps, e.queue_packets) for e in links)


def write_flows(name: str, flows: list[Flow]) -> None:
    """Write a flow list. Each host's source ports count up from 10000, so that ECMP can tell its flows apart."""
    next_port: dict[str, int] = {}
    with (CASES / f"{name}.flows.csv").open("w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(("flow", "src", "dst", "bytes", "start_ps", "sport", "dport", "class"))
        for i, flow in enumerate(flows):
            sport = next_port.get(flow.src, 10_000)
            next_port[flow.src] = sport + 1
            rows.writerow((i, flow.src, flow.dst, flow.bytes, flow.start_ps, sport, DPORT, size_class(flow.bytes)))


def main() -> None:
    """Write all fabrics, flow lists and runs.csv."""
    CASES.mkdir(exist_ok=True)
    tcps = ["newreno", "newreno-sack", "cubic"]
    schemes = ["single_path", "ecmp", "spray"]
    runs: list[tuple[str, str, str, str, int]] = []  # workload, fabric, scheme, tcp, seed

    tree = fat_tree(4, GBPS, 25 * US, 1000)
    write_fabric("fat-tree-4", *tree)
    leaves, hosts_per_leaf, spines = 4, 5, 4
    leaf = spine_leaf(spines, leaves, hosts_per_leaf, GBPS, 5 * US, 100)
    write_fabric("spine-leaf-4x4x5", *leaf)
    # The same with queues that rarely fill under spraying: isolates how each TCP handles reordering.
    write_fabric("spine-leaf-4x4x5-deep", *spine_leaf(spines, leaves, hosts_per_leaf, GBPS, 5 * US, 1000))

    write_flows("lone", lone_flows("h0", "h15"))
    for fabric in ("fat-tree-4", "spine-leaf-4x4x5"):
        runs += [("lone", fabric, "single_path", tcp, 1) for tcp in tcps]

    # 40 % of all uplinks for the schemes that use them all; 10 % for single_path, which uses one spine of four.
    uplinks = leaves * spines * GBPS
    for seed in (1, 2, 3):
        for load in (10, 40):
            flows = web_search(leaf[0], hosts_per_leaf, uplinks, load / 100, 200, seed * 100 + load)
            write_flows(f"web{load}-{seed}", flows)
        runs += [(f"web10-{seed}", "spine-leaf-4x4x5", "single_path", tcp, seed) for tcp in tcps]
        runs += [(f"web40-{seed}", "spine-leaf-4x4x5", scheme, tcp, seed) for scheme in schemes[1:] for tcp in tcps]
        runs += [(f"web40-{seed}", "spine-leaf-4x4x5-deep", "spray", tcp, seed) for tcp in tcps]

    for seed in (1, 2, 3):
        name = f"permutation-{seed}"
        write_flows(name, permutation(tree[0], seed))
        runs += [(name, "fat-tree-4", scheme, tcp, seed) for scheme in schemes for tcp in tcps]

    with (CASES / "runs.csv").open("w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(("case", "fabric", "flows", "scheme", "tcp", "seed"))
        for workload, fabric, scheme, tcp, seed in runs:
            rows.writerow((f"{workload}.{fabric}.{scheme}.{tcp}", fabric, workload, scheme, tcp, seed))


if __name__ == "__main__":
    main()
