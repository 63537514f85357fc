"""A script that uses every public name; `test_types.py` runs it, and mypy checks it strictly."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import polars as pl

import weft

SCENARIO: dict[str, Any] = {
    "name": "typed",
    "fabric": {"kind": "spine-leaf", "spines": 2, "leaves": 2, "hosts_per_leaf": 2, "rate": "1 Gbps"},
    "traffic": {"sizes": {"fixed": "30 kB"}, "load": 0.3},
    "scheme": {"name": "ecmp"},
    "run": {"duration": "5 ms", "seeds": 2},
    "sweep": {"scheme.name": ["ecmp", "spray"]},
}


def of_the_fabric(folder: Path) -> weft.Fabric:
    scenario: weft.Scenario = weft.Scenario.from_dict(SCENARIO)
    (folder / "typed.toml").write_text(scenario.text)
    weft.write_fabric(folder / "typed.toml", folder / "fabric.toml")
    fabric: weft.Fabric = weft.fabric(folder / "fabric.toml")
    node: weft.Node = fabric.hosts[0]
    link: weft.Link = fabric.links[0]
    path: weft.FabricPath = fabric.path_set("h0", "h3")[0]
    print(node.name, link.rate_bps / 1e9, path.hops, fabric.to_svg()[:4])
    return fabric


def of_results(folder: Path, fabric: weft.Fabric) -> None:
    scenario = weft.Scenario.from_file(folder / "typed.toml").set("traffic.load", 0.2)
    points: list[weft.Point] = scenario.points()
    own: weft.InMemory = weft.run(scenario, fabric=fabric, jobs=1, seeds=[1, 2], progress=lambda event: None)
    results: weft.Results = own.save(folder / "results")
    run: weft.Run = results.finished[0]
    flows: pl.DataFrame = results.flows()
    lazy: pl.LazyFrame = results.scan_series("queue_bytes")
    comparison: weft.Comparison = results.compare(baseline="ecmp")
    estimate: weft.Estimate | None = comparison.rows[0].estimates["mean_fct_s"]
    mean: float | None = None if estimate is None else estimate.mean
    print(len(points), run.scheme, flows.height, lazy.collect().height, mean, results.summary().width)
    drawing: weft.Drawing = weft.figure(results, "fct-cdf", width="column", labels={"ecmp": "ECMP"}, log_x=False)
    files: list[Path] = [
        drawing.save(folder / "cdf.svg"),
        weft.report(results),
        *weft.plot(results, only=("fct-mean",)),
    ]
    print([file.name for file in files])


def of_names() -> None:
    catalogue: list[dict[str, Any]] = [*weft.schemes(), *weft.profiles(), *weft.distributions()]
    schema: dict[str, Any] = weft.schema()
    print(len(catalogue), schema["type"], weft.__version__)


def of_errors(folder: Path) -> None:
    errors: list[Exception] = []
    try:
        weft.Scenario.from_text("").points()
    except weft.ScenarioError as error:
        errors.append(error)
    try:
        weft.Results(folder / "nothing")
    except weft.ResultsError as error:
        errors.append(error)
    try:
        weft.load_plugin(folder / "nothing")
    except (weft.PluginError, weft.OutputError) as error:
        errors.append(error)
    print([isinstance(error, weft.WeftError) for error in errors])


def main(folder: Path) -> None:
    of_results(folder, of_the_fabric(folder))
    of_names()
    of_errors(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
