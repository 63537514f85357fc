"""The option `--dask` of `weft run` and `weft reproduce`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from . import shell
from .live import announced

if TYPE_CHECKING:
    from ..cluster.connection import Cluster

Dask = Annotated[
    str | None,
    typer.Option(
        "--dask",
        metavar="ADDRESS",
        help="Send the runs to the workers of a Dask cluster: tcp://HOST:PORT, a scheduler file, or local:N to start N "
        "workers on this machine (docs/cluster.md).",
    ),
]


@contextmanager
def connected(address: str | None, threads: int | None) -> Iterator[Cluster | None]:
    """The cluster at an address, for the block; None without an address.

    Raises `ClusterError` if the address is not valid, nobody answers there, or no worker is suitable.
    """
    if address is None:
        yield None
        return
    from ..cluster.connection import Cluster

    cluster = Cluster(address, threads=threads, warn=shell.warn)
    number = cluster.address.local
    doing = f"starting {number} workers on this machine" if number else f"connecting to {address}"
    with announced(f"{doing} ..."):
        cluster.open()
    try:
        yield cluster
    finally:
        cluster.close()
