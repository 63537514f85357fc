"""Result directories of runs without a scenario: written by the study itself, in the usual layout.

docs/results.md describes the layout; unknown values of flows or classes are null.
"""

import json
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

import polars as pl

from .._weft import result_tables, version
from ..errors import OutputError
from ..files import write_text
from ..topology import Fabric
from ..topology import fabric as read_fabric


class Setup(Protocol):
    """A run of a study."""

    @property
    def id(self) -> str:
        """Id of the run within its part."""

    @property
    def label(self) -> str:
        """Label of the run."""

    @property
    def overrides(self) -> dict[str, Any]:
        """The values that distinguish it from other runs, except the seed, as the overrides of a sweep."""


_TABLES: dict[str, Any] = json.loads(result_tables())
_KINDS = {"text": pl.Categorical, "int32": pl.Int32, "int64": pl.Int64, "float64": pl.Float64, "bool": pl.Boolean}
FLOWS, SERIES = ({column["name"]: _KINDS[column["kind"]] for column in _TABLES[name]} for name in ("flows", "series"))
"""Columns of flows and of series."""
OF_CLASSES: tuple[str, ...] = tuple(_TABLES["classes"])
"""Entries of a class in a summary."""


def of_class(**known: Any) -> dict[str, Any]:
    """A class's entries in a summary, of which only these are known."""
    return dict.fromkeys(OF_CLASSES) | known


def entry(setup: Setup, seed: int) -> dict[str, Any]:
    """A run in `sweep.json`."""
    about = {"id": setup.id, "label": setup.label, "overrides": setup.overrides, "seed": seed}
    return about | {"path": f"runs/{setup.id}"}


def summary(setup: Setup, seed: int, built: Fabric, classes: Mapping[str, Any], duration_ps: int) -> dict[str, Any]:
    """The entries of `summary.json` that follow from a run's setup, fabric, classes and duration."""
    sent, finished = (sum(known[key] for known in classes.values()) for key in ("flows", "finished"))
    sizes = {"hosts": len(built.hosts), "switches": len(built.switches), "links": len(built.links)}
    return {
        "name": built.name,
        "version": version(),
        "id": setup.id,
        "label": setup.label,
        "seed": seed,
        "overrides": setup.overrides,
        "scheme": {"name": setup.overrides["scheme.name"], "params": {}},
        "fabric": {"name": built.name} | sizes,
        "traffic": {"flows": sent, "mean_bytes": None, "notes": []},
        "duration_ps": duration_ps,
        "simulated_ps": duration_ps,
        "window_ps": [0, duration_ps],
        "classes": classes,
        "counters": {"flows_started": sent, "flows_finished": finished},
        "events": [],
        "nodes": [asdict(node) for node in built.nodes],
    }


def claim(out: Path, index: Mapping[str, Any]) -> None:
    """Write `sweep.json` with this index and Weft's version, or check that an existing one is identical.

    Raises `OutputError` if `out` contains other runs, or cannot be written.
    """
    file = out / "sweep.json"
    wanted = json.dumps({**index, "version": version(), "emulated": True}, indent=2) + "\n"
    if file.is_file():
        if file.read_text(encoding="utf-8") != wanted:
            raise OutputError(f"{out} contains other runs, or runs of another version: give another directory with -o")
        return
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot create {out}: {error.strerror}") from error
    write_text(file, wanted)


def write(
    target: Path,
    flows: Iterable[Mapping[str, Any]],
    series: Iterable[tuple[Any, ...]],
    fabric: str,
    summary: Callable[[Fabric], Mapping[str, Any]],
) -> None:
    """Write a run's directory atomically.

    Rows of `flows` have some of the columns `FLOWS`, the rest is null; those of `series` are `SERIES`. `fabric` is the
    text of the fabric file, for which `summary` returns `summary.json`. Raises `OutputError` if it cannot be written.
    """
    unfinished = target.with_name(f".{target.name}")
    try:
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        pl.DataFrame(list(flows), schema=FLOWS).write_parquet(unfinished / "flows.parquet")
        pl.DataFrame(list(series), schema=SERIES, orient="row").write_parquet(unfinished / "series.parquet")
        file = unfinished / "topology.fabric.toml"
        file.write_text(fabric, encoding="utf-8")
        (unfinished / "summary.json").write_text(json.dumps(summary(read_fabric(file)), indent=2), encoding="utf-8")
        unfinished.rename(target)
    except OSError as error:
        raise OutputError(f"{target} cannot be written: {error.strerror or error}") from error
