"""The end of a program's output, for error messages."""

import os
from pathlib import Path

from ..labels import visible

_LINES, _BYTES = 5, 4096


def last_lines(path: Path) -> str:
    """The last lines of a file, indented, each after a line break; empty if the file is."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - _BYTES, 0))
        lines = file.read().decode(errors="replace").splitlines()
    said = [line.rstrip() for line in lines if line.strip()]
    return "".join(f"\n    {visible(line)}" for line in said[-_LINES:])
