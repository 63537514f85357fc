"""Atomic file writes, and the limit on open files."""

import os
import tempfile
from pathlib import Path

from .errors import OutputError


def write_bytes(path: Path, content: bytes) -> None:
    """Write `path` atomically: to a temporary file in the same directory, then renamed.

    Raises `OutputError` if it cannot be written; the previous file is unchanged.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            Path(temporary).chmod(0o644)
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        blocking = next((folder for folder in path.parents if folder.exists() and not folder.is_dir()), None)
        why = f"{blocking} is a file, not a directory" if blocking is not None else error.strerror or error
        raise OutputError(f"{path} cannot be written: {why}") from error


def allow_many() -> None:
    """Raise the limit on open files and sockets to the hard limit."""
    import resource  # Not available on every system, and not needed elsewhere here.

    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def write_text(path: Path, content: str) -> None:
    """`write_bytes` for text, as UTF-8."""
    write_bytes(path, content.encode())
