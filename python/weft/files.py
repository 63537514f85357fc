"""Writing files so that a reader never finds half of one; and how many may be open."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from .errors import OutputError


def write_bytes(path: Path, content: bytes) -> None:
    """Write `path` whole or not at all: under a temporary name beside it, then renamed.

    Raises:
        OutputError: It cannot be written; what was there before is still there.
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
        raise OutputError(f"{path} cannot be written: {error.strerror or error}") from error


def allow_many() -> None:
    """Have as many files and sockets open at a time as the machine allows this user."""
    import resource  # Not on every system, and nothing else here needs it.

    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def write_text(path: Path, content: str) -> None:
    """`write_bytes` for text, as UTF-8."""
    write_bytes(path, content.encode())
