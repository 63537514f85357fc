"""Sweeps on the workers of a Dask cluster, see `Cluster` and `docs/cluster.md`.

Here: `address`, `connection` (`Cluster`), `workers` (whom to send runs), `sweep`, `transfer` (files, there and back).
On a worker: `host` carries out runs, `inputs` keeps the files that scenarios name.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .connection import Cluster

__all__ = ["Cluster"]


def __getattr__(name: str) -> Any:
    """Import Dask on first use: the command line starts without it."""
    if name != "Cluster":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .connection import Cluster

    return Cluster
