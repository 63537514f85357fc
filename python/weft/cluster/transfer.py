"""Files between this machine and workers, in pieces, so that neither side ever holds a large one in memory."""

import asyncio
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from distributed import Client

from .. import _weft
from ..errors import is_disk_full
from . import host

PIECE = 4 << 20
"""Size of a piece in bytes."""
_MOST_BYTES = 1 << 44
"""Maximum size of a file of a result."""


class UnsoundError(Exception):
    """A worker sent something other than a result."""


class LocalError(Exception):
    """This machine cannot store a result; `is_disk_full`: because the disk or the quota is full."""

    def __init__(self, message: str, cause: OSError) -> None:
        super().__init__(message)
        self.is_disk_full = is_disk_full(cause)


def check_sizes(files: Any) -> dict[str, int]:
    """The sizes of a result's files, as a worker gave them.

    Raises `UnsoundError` if these are not the files of a result.
    """
    always, more = map(set, _weft.result_files())
    if not isinstance(files, dict) or not always <= set(files) <= always | more:
        raise UnsoundError(f"the files of a result are {', '.join(sorted(always))}")
    if not all(isinstance(size, int) and 0 <= size <= _MOST_BYTES for size in files.values()):
        raise UnsoundError("the size of a file is not valid")
    return files


def check_contents(files: Any) -> dict[str, bytes]:
    """The contents of a small result's files, as a worker gave them.

    Raises `UnsoundError` if these are not the files of a small result.
    """
    if not isinstance(files, dict) or not all(isinstance(content, bytes) for content in files.values()):
        raise UnsoundError("contents are not bytes")
    check_sizes({name: len(content) for name, content in files.items()})
    return files


async def receive(client: Client, session: str, address: str, token: str, files: dict[str, int], into: Path) -> None:
    """Copy the files of a large result from a worker.

    Raises `UnsoundError` if a file has another size than the worker said, `LocalError` if one cannot be written, and
    Dask's errors if the worker cannot be reached.
    """
    for name, size in files.items():
        path, offset = into / name, 0
        await asyncio.to_thread(write, path, b"", 0)
        while offset < size:
            length = min(PIECE, size - offset)
            call = client.run(host.read, session, token, name, offset, length, workers=[address])
            piece = (await call)[address]
            if not isinstance(piece, bytes) or len(piece) != length:
                raise UnsoundError(f"{name} is shorter than the worker said")
            await asyncio.to_thread(write, path, piece, offset)
            offset += length


def write(path: Path, piece: bytes, offset: int) -> None:
    """Write a piece of a file, the first of which creates it. Raises `LocalError` if it cannot be written."""
    try:
        with path.open("ab" if offset else "wb") as file:
            file.write(piece)
    except OSError as error:
        raise LocalError(f"cannot write {path}: {error.strerror}", error) from error


@contextmanager
def placed(directory: _weft.SweepDirectory, point_id: str) -> Iterator[Path]:
    """A directory for the files of a result, which gets the result's name after the block, or is removed.

    Raises `LocalError` if it cannot be created or renamed.
    """
    try:
        into = Path(directory.begin(point_id))
    except OSError as error:
        raise LocalError(str(error), error) from error
    try:
        yield into
        try:
            directory.complete(point_id, str(into))
        except OSError as error:
            raise LocalError(str(error), error) from error
    finally:
        shutil.rmtree(into, ignore_errors=True)


async def send(client: Client, session: str, address: str, sha: str, directory: _weft.SweepDirectory) -> None:
    """Copy an input file to a worker. Raises `Exception` if the worker cannot be reached, or cannot store it."""
    name, size = next((name, size) for name, found, size in directory.inputs() if found == sha)
    for offset in range(0, max(size, 1), PIECE):
        piece = directory.input(name, offset, PIECE)
        is_last = offset + PIECE >= size
        await client.run(host.store, session, sha, offset, piece, is_last, workers=[address])
