"""Names chosen to break a page or a terminal, and results and fabrics that contain them."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl

import sample

NAMES = {
    "a comment and a script": "<!--<script>",
    "the end of a script": "</script><script>alert(1)</script>",
    "an element in an attribute": '"><img src=x onerror=alert(1)>',
    "quotes": """it's "quoted" & `so` &amp; \\" \\u0041 $\\frac{$ [bold]""",
    "separators of lines": "a\u2028b\u2029c",
    "control characters": "esc\x1b[31mred\x07\x9b2J\r\x7f",
    "marks that reverse text": "ab\u202etxt.exe\u2066",
    "200 letters": "x" * 200,
    "200 narrow words": "il " * 66 + "il",
}


def comment(name: str) -> str:
    """The name in a comment of TOML, which has no control characters of ASCII."""
    return "# " + "".join(letter for letter in name if letter >= " " and letter != "\x7f")


def write_results(directory: Path, name: str) -> Path:
    """The sample with this name wherever one is allowed: scenario, schemes, points, classes, nodes, notes."""
    sweep = {"scheme.name": [f"{name}1", f"{name}2"], "traffic.note": [name, "plain"]}
    sample.write_results(directory, sweep, seeds=2, flows=60, samples=4)
    (directory / "scenario.toml").write_text(f"{comment(name)}\n", encoding="utf-8")
    index = json.loads((directory / "sweep.json").read_text())
    index |= {"name": name, "description": f"about {name}", "version": name}
    (directory / "sweep.json").write_text(json.dumps(index))
    for run in index["runs"]:
        _rename(directory / run["path"], name)
    return directory


def _rename(run: Path, name: str) -> None:
    """Prefix every node's name with it, and replace one class by it."""
    summary = json.loads((run / "summary.json").read_text())
    for node in summary["nodes"]:
        node["name"] = f"{name}{node['name']}"
    for link in summary["links"]:
        link |= {end: f"{name}{link[end]}" for end in ("from", "to")}
        if summary["overrides"]["traffic.note"] == name:
            link["utilisation"] = 0.5
    summary["fabric"]["name"] = name
    summary["transport"] = {"profile": name, "parameters": {name: name, "nested": {name: 1}}}
    summary["traffic"] |= {"notes": [name], "load_of": name}
    summary["counters"]["packets_dropped"] = {name: 1}
    summary["warnings"] = [name]
    (run / "summary.json").write_text(json.dumps(summary))
    mouse = pl.when(pl.col("class").cast(pl.String) == "mouse").then(pl.lit(name)).otherwise(pl.col("class"))
    flows = pl.read_parquet(run / "flows.parquet").with_columns(mouse.cast(pl.Categorical).alias("class"))
    flows.write_parquet(run / "flows.parquet")
    ends = pl.col("entity").cast(pl.String)
    linked = pl.lit(name) + ends.str.replace("->", f"->{name}".replace("$", "$$"), literal=False)
    entity = pl.when(ends.str.contains("->")).then(linked).when(ends == "mouse").then(pl.lit(name)).otherwise(ends)
    series = pl.read_parquet(run / "series.parquet").with_columns(entity.cast(pl.Categorical).alias("entity"))
    series.write_parquet(run / "series.parquet")


def fabric_file(directory: Path, name: str) -> Path:
    """Two leaves, two spines and four hosts as node-link JSON, each name prefixed with this one."""
    tiers = {"h": 0, "l": 1, "s": 2}
    nodes = ["h0", "h1", "h2", "h3", "l0", "l1", "s0", "s1"]
    cables = [(f"h{number}", f"l{number // 2}") for number in range(4)]
    cables += [(leaf, spine) for leaf in ("l0", "l1") for spine in ("s0", "s1")]
    data = {
        "directed": False,
        "multigraph": False,
        "graph": {"name": name},
        "nodes": [
            {"id": f"{name}{node}", "role": "switch" if tiers[node[0]] else "host", "tier": tiers[node[0]]}
            for node in nodes
        ],
        "links": [
            {"source": f"{name}{a}", "target": f"{name}{b}", "rate": "1 Gbps", "delay": "1 us"} for a, b in cables
        ],
    }
    path = directory / "fabric.json"
    path.write_text(json.dumps(data))
    return path
