"""A number for the measured flows of a run, equal in runs that have the same ones."""

import zlib
from collections.abc import Sequence

import numpy as np
import polars as pl

from .cached_tables import ENTRY
from .rows import valued

UNTIMED = ("flow", "src", "dst", "bytes")
"""The columns of a flow that are the same under every scheme."""
IDENTITY = (*UNTIMED, "start_ps")
"""These columns of a flow that waits for no other. One that waits starts at a time that depends on the scheme."""
_MIX = np.uint64(0x9E3779B97F4A7C15)


def _hashed(name: str) -> int:
    return zlib.crc32(name.encode())


def fingerprints(flows: pl.DataFrame, columns: Sequence[str]) -> pl.Series:
    """A number for each run, in the order of the rows: equal if these columns of all its flows are."""
    mixed: np.ndarray = np.zeros(len(flows), dtype=np.uint64)
    for name in columns:
        column = flows[name]
        own = column.to_numpy().astype(np.uint64) if column.dtype.is_integer() else valued(column, _hashed, np.uint64)
        mixed = (mixed ^ own) * _MIX
        mixed ^= mixed >> np.uint64(29)
    lengths = flows[ENTRY].rle().struct.field("len").to_numpy().astype(np.int64)
    starts = np.cumsum(lengths) - lengths
    # The sum does not depend on the order of the flows in the file.
    sums = np.add.reduceat(mixed, starts) if len(starts) else mixed
    return pl.Series(sums.view(np.int64))
