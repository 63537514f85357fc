"""Tables cached in a file next to the results from which they were computed.

Every entry (a run, or a group of runs) has a stamp of its sources: an entry with another stamp is computed again. A
file that is damaged, of another version or not readable counts as missing: it costs time, but never a wrong number.
"""

import hashlib
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from .errors import OutputError
from .files import write_bytes

Tables = dict[str, pl.DataFrame]
"""Tables by name; each has the column `ENTRY`."""
ENTRY = "run"
"""The column that names the entry to which a row belongs."""
_LONGEST = 1 << 26
"""Maximum length of a header in bytes; a longer first line is not one of ours."""


@dataclass(frozen=True)
class CachedTables:
    """A file of tables, and the version of the code that computes them."""

    path: Path
    version: str

    def load(self) -> tuple[dict[str, str], Tables]:
        """The stamps of all entries, and the tables; empty if there is no usable file."""
        try:
            with self.path.open("rb") as file:
                head = json.loads(file.readline(_LONGEST))
                if head["version"] != self.version:
                    return {}, {}
                tables = {name: _read(file.read(int(part["bytes"])), part) for name, part in head["tables"].items()}
            return {str(entry): str(stamp) for entry, stamp in head["stamps"].items()}, tables
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, pl.exceptions.PolarsError):
            return {}, {}

    def save(self, stamps: Mapping[str, str], tables: Tables) -> None:
        """Write the file atomically; a directory that cannot be written keeps no tables."""
        parts, blobs = {}, []
        for name, table in tables.items():
            buffer = io.BytesIO()
            table.write_parquet(buffer, compression="zstd", compression_level=1)
            blobs.append(buffer.getvalue())
            parts[name] = {"bytes": len(blobs[-1]), "sha256": hashlib.sha256(blobs[-1]).hexdigest()}
        head = json.dumps({"version": self.version, "tables": parts, "stamps": dict(stamps)})
        try:
            write_bytes(self.path, b"".join([head.encode(), b"\n", *blobs]))
        except OutputError:
            return


def _read(blob: bytes, part: Mapping[str, Any]) -> pl.DataFrame:
    if hashlib.sha256(blob).hexdigest() != part["sha256"]:
        raise ValueError("not the bytes that were written")
    return pl.read_parquet(blob)


def compact(tables: Tables) -> Tables:
    """Copies of the tables with memory of their own: a slice or a text column keeps all that it was taken from."""
    copies = {}
    for name, table in tables.items():
        buffer = io.BytesIO()
        table.write_parquet(buffer, compression="uncompressed")
        copies[name] = pl.read_parquet(buffer.getvalue())
    return copies


def joined(parts: list[Tables]) -> Tables:
    """The rows of several computations, one below the other."""
    names = dict.fromkeys(name for part in parts for name in part)
    return {
        name: pl.concat([part[name] for part in parts if name in part], how="diagonal_relaxed", rechunk=True)
        for name in names
    }
