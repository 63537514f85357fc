"""Result directories as `weft run` writes them, with invented but plausible numbers.

Tests of statistics, report and figures use these, so that they need no simulation and cover what a simulation rarely
produces: unfinished flows, missing runs, one seed, many points.
"""

from __future__ import annotations

import hashlib
import io
import itertools
import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

SCENARIO = """\
name = "sample"
# exact text, <kept> & "quoted"
[fabric]
kind = "fat-tree"
k = 4
rate = "1 Gbps"
delay = "25 us"

[traffic]
sizes = "web-search"
load = 0.4

[scheme]
name = "ecmp"

[run]
duration = "1 s"
seeds = 3

[sweep]
"scheme.name" = ["single_path", "ecmp", "spray"]
"traffic.load" = [0.2, 0.4]
"""

CLASSES = {"mouse": (0.5, 2e3), "rabbit": (0.4, 3e5), "elephant": (0.1, 1.5e7)}
SPEED = {"single_path": 0.55, "ecmp": 0.8, "spray": 1.0}
RATE = 1e9


def fat_tree(k: int) -> tuple[list[dict[str, Any]], list[tuple[str, str]]]:
    """Nodes with positions, and links, of a k-ary fat-tree in the order of the builders."""
    half = k // 2
    hosts, edges, cores = k**3 // 4, k * half, half**2

    def row(letter: str, tier: int, number: int, pod_size: int | None) -> list[dict[str, Any]]:
        role = "switch" if tier else "host"
        return [
            {"name": f"{letter}{i}", "role": role, "tier": tier, "pod": i // pod_size if pod_size else None}
            | {"x": (i + 0.5) / number, "y": float(tier)}
            for i in range(number)
        ]

    nodes = row("h", 0, hosts, half**2) + row("e", 1, edges, half) + row("a", 2, edges, half) + row("c", 3, cores, None)
    cables = [(f"h{i}", f"e{i // half}") for i in range(hosts)]
    cables += [(f"e{e}", f"a{e // half * half + j}") for e in range(edges) for j in range(half)]
    cables += [(f"a{a}", f"c{a % half * half + j}") for a in range(edges) for j in range(half)]
    return nodes, cables


def flow_table(scheme: str, load: float, seed: int, flows: int, hosts: int, sizes: str = "") -> pl.DataFrame:
    """Flows that are equal for all schemes of a seed, with completion times that depend on the scheme."""
    common = np.random.default_rng([seed, int(load * 1000), *sizes.encode()])
    own = np.random.default_rng([seed, int(load * 1000), *scheme.encode()])
    names = list(CLASSES)
    kinds = common.choice(len(names), flows, p=[CLASSES[name][0] for name in names])
    kinds[: len(names)] = range(len(names))
    size = np.array([CLASSES[names[kind]][1] for kind in kinds]) * common.lognormal(0, 0.4, flows)
    bytes_ = np.maximum(size.astype(np.int64), 100)
    start = np.sort(common.integers(0, 10**12, flows))
    ideal = (bytes_ * 8 / RATE * 1e12 + 3e8).astype(np.int64)
    slowdown = 1 + common.gamma(2.0, load * 2, flows) / SPEED.get(scheme, 0.7) * own.lognormal(0, 0.05, flows)
    fct = (ideal * slowdown).astype(np.int64)
    packets = np.maximum(bytes_ // 1448, 1)
    late = own.binomial(packets, 0.12 if scheme == "spray" else 0.0)
    retransmissions = own.binomial(packets, 0.01 * load)
    finished = np.ones(flows, dtype=bool)
    finished[-1] = False
    return pl.DataFrame(
        {
            "flow": np.arange(flows),
            "src": [f"h{i}" for i in common.integers(0, hosts, flows)],
            "dst": [f"h{i}" for i in common.integers(0, hosts, flows)],
            "sport": common.integers(1024, 65535, flows).astype(np.int32),
            "dport": np.full(flows, 80, dtype=np.int32),
            "class": [names[kind] for kind in kinds],
            "dscp": np.zeros(flows, dtype=np.int32),
            "bytes": bytes_,
            "start_ps": start,
            "end_ps": pl.Series(start + fct).set(pl.Series(~finished), None),
            "fct_ps": pl.Series(fct).set(pl.Series(~finished), None),
            "ideal_fct_ps": ideal,
            "measured": start > 10**11,
            "hops": np.full(flows, 6, dtype=np.int32),
            "packets_sent": packets + retransmissions,
            "retransmissions": retransmissions,
            "timeouts": own.binomial(retransmissions, 0.02),
            "out_of_order": late,
            "first_transmissions_received": packets,
            "drops": own.binomial(retransmissions, 0.6),
            "ecn_marks": np.zeros(flows, dtype=np.int64),
            "resolution_ps": np.zeros(flows, dtype=np.int64),
            "moves": np.zeros(flows, dtype=np.int32),
        },
    ).with_columns(pl.col("src", "dst", "class").cast(pl.Categorical))


def series_table(scheme: str, load: float, seed: int, links: list[str], samples: int) -> pl.DataFrame:
    """Utilisation and queues of each directed link, throughput by class, live flows."""
    rng = np.random.default_rng([seed, int(load * 1000), *scheme.encode(), 7])
    times = (np.arange(1, samples + 1) * 1e12 / samples).astype(np.int64)
    heat = rng.gamma(4 * SPEED.get(scheme, 0.7), load / 4, len(links))
    metrics, entities, instants, seen = [], [], [], []

    def add(metric: str, entity: str, values: np.ndarray, busy: np.ndarray | slice = slice(None)) -> None:
        own = times[busy]
        instants.append(own)
        seen.append(values[busy].astype(float))
        metrics.extend([metric] * len(own))
        entities.extend([entity] * len(own))

    def add_busy(metric: str, entity: str, values: np.ndarray) -> None:
        add(metric, entity, values, values > 0)

    ramp = np.minimum(1, np.arange(samples) / (samples * 0.1))
    for link, level in zip(links, heat, strict=True):
        add_busy("link_utilisation", link, np.minimum(ramp * level * rng.lognormal(0, 0.2, samples), 1))
        queue = rng.exponential(1500 * 60 * level**2, samples).astype(int) // 1500
        add_busy("queue_bytes", link, queue * 1500)
        add_busy("queue_packets", link, queue)
    for name, share in (("mouse", 0.01), ("rabbit", 0.2), ("elephant", 0.79)):
        add("throughput_bps", name, ramp * share * load * 16e9 * rng.lognormal(0, 0.1, samples))
    add("active_flows", "all", ramp * load * 120 * rng.lognormal(0, 0.1, samples))
    columns = {"time_ps": np.concatenate(instants), "metric": metrics, "entity": entities}
    table = pl.DataFrame(columns | {"value": np.concatenate(seen)})
    return table.with_columns(pl.col("metric", "entity").cast(pl.Categorical))


@lru_cache(maxsize=128)
def run_files(text: str, seed: int, k: int, flows: int, samples: int) -> dict[str, bytes]:
    """The files of a finished run with overrides, as JSON; kept, as many tests write the same runs."""
    overrides = json.loads(text)
    scheme, load = str(overrides.get("scheme.name", "ecmp")), float(overrides.get("traffic.load", 0.4))
    nodes, cables = fat_tree(k)
    ends = [pair for a, b in cables for pair in ((a, b), (b, a))]
    series = series_table(scheme, load, seed, [f"{a}->{b}" for a, b in ends if a[0] != "h"], samples)
    table = flow_table(scheme, load, seed, flows, k**3 // 4, str(overrides.get("traffic.sizes", "")))

    rows = series.group_by(pl.col("metric", "entity").cast(pl.String)).agg(
        pl.col("value").mean().alias("mean"), pl.col("value").max().alias("largest")
    )
    mean, largest = {}, {}
    for metric, entity, average, most in rows.iter_rows():
        if metric == "link_utilisation":
            mean[entity] = average
        elif metric == "queue_bytes":
            largest[entity] = most
    summary = {
        "name": "sample",
        "version": "0.1.0",
        "seed": seed,
        "overrides": overrides,
        "scheme": {"name": scheme, "params": {}},
        "transport": {
            "profile": "linux",
            "parameters": {"mss": 1448, "initial_window": 10, "sack": True, "rto_min": "200 ms", "pacing": None},
        },
        "fabric": {"name": f"fat-tree k={k}", "hosts": k**3 // 4, "switches": 5 * k**2 // 4, "links": len(ends)},
        "traffic": {
            "flows": flows,
            "mean_bytes": float(table["bytes"].mean()),  # type: ignore[arg-type]
            "offered_load": load * 0.98,
            "load_of": "fabric-uplinks",
            "notes": ["realised mean flow size 1.62 MB"],
        },
        "simulated_ps": 1_000_000_000_000 + seed * 10**11,
        "window_ps": [100_000_000_000, 1_000_000_000_000],
        "interval_ps": 10**12 // samples,
        "counters": {
            "packets_sent": int(table["packets_sent"].sum()),
            "packets_delivered": int(table["packets_sent"].sum() - table["drops"].sum()),
            "packets_dropped": {"queue full": int(table["drops"].sum())},
            "packets_in_flight": 0,
            "packet_hops": int(table["packets_sent"].sum() * 12),
            "events": int(table["packets_sent"].sum() * 13),
        },
        "classes": {},
        "links": [
            {
                "from": a,
                "to": b,
                "rate_bps": RATE,
                "delay_ps": 25_000_000,
                "utilisation": mean.get(f"{a}->{b}", 0.1),
                "bytes": int(mean.get(f"{a}->{b}", 0.1) * RATE / 8),
                "packets": int(mean.get(f"{a}->{b}", 0.1) * RATE / 12_000),
                "drops": int(mean.get(f"{a}->{b}", 0.1) * 20),
                "max_queue_bytes": int(largest.get(f"{a}->{b}", 0)),
                "up": {a, b} != {"e0", "a1"},
            }
            for a, b in ends
        ],
        "nodes": nodes,
        "warnings": [] if load < 0.4 else ["the offered load is above what one uplink carries"],
    }
    tables = {"flows.parquet": table, "series.parquet": series}
    files = {"summary.json": json.dumps(summary).encode(), "scenario.toml": SCENARIO.encode()}
    for name, content in tables.items():
        written = io.BytesIO()
        content.write_parquet(written)
        files[name] = written.getvalue()
    return files


def write_run(
    path: Path, overrides: dict[str, Any], seed: int, *, k: int = 4, flows: int = 400, samples: int = 50
) -> None:
    """One finished run."""
    path.mkdir(parents=True)
    for name, content in run_files(json.dumps(overrides), seed, k, flows, samples).items():
        (path / name).write_bytes(content)


def write_results(
    directory: Path,
    sweep: dict[str, list[Any]] | None = None,
    seeds: int = 3,
    *,
    missing: int = 0,
    baseline: str | None = None,
    **run: int,
) -> Path:
    """A result directory of a whole sweep; the last `missing` runs have not finished."""
    if sweep is None:
        sweep = {"scheme.name": ["single_path", "ecmp", "spray"], "traffic.load": [0.2, 0.4]}
    directory.mkdir(parents=True, exist_ok=True)
    runs = []
    for values in itertools.product(*sweep.values()):
        overrides = dict(zip(sweep, values, strict=True))
        for seed in range(1, seeds + 1):
            label = ", ".join([*(f"{key} {value}" for key, value in overrides.items()), f"seed {seed}"])
            ident = f"{len(runs):04d}"
            runs.append({"id": ident, "label": label, "overrides": overrides, "seed": seed, "path": f"runs/{ident}"})
    index: dict[str, Any] = {
        "name": "sample",
        "version": "0.1.0",
        "scenario_sha": hashlib.sha256(SCENARIO.encode()).hexdigest(),
        "runs": runs,
    }
    if baseline:
        index["baseline"] = baseline
    (directory / "scenario.toml").write_text(SCENARIO)
    (directory / "sweep.json").write_text(json.dumps(index))
    for entry in runs[: len(runs) - missing]:
        write_run(directory / str(entry["path"]), entry["overrides"], entry["seed"], **run)
    return directory


def failure(at_ps: int, a: str, b: str, **cost: int) -> dict[str, Any]:
    """The failure of a link as an event of a summary."""
    return {"at_ps": at_ps, "change": "fail", "target": f"{a}-{b}", "up": False, "links": [[a, b]], **cost}


def add_event(directory: Path, event: dict[str, Any], runs: str = "*") -> None:
    """Give runs of a result directory, by the pattern of their ids, this event."""
    for path in directory.glob(f"runs/{runs}/summary.json"):
        path.write_text(json.dumps(json.loads(path.read_text()) | {"events": [event]}))


def keep_class(directory: Path, name: str) -> None:
    """Leave only the flows and samples of this class in all runs."""
    for path in directory.glob("runs/*"):
        flows, series = path / "flows.parquet", path / "series.parquet"
        pl.read_parquet(flows).filter(pl.col("class") == name).write_parquet(flows)
        others = (pl.col("metric") == "throughput_bps") & (pl.col("entity") != name)
        pl.read_parquet(series).filter(~others).write_parquet(series)
