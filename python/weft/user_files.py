"""Text files of users: scenarios and fabrics."""

import difflib
import errno
import os
from pathlib import Path

from .errors import ScenarioError

_NEAR = 0.6
"""How similar a name is to that of a file that is meant, at least."""


def read_text(path: Path, remedy: str = "") -> str:
    """The text of a user's file, without the byte order mark that editors on Windows write.

    Args:
        path: The file.
        remedy: The commands that make such a file, for the message if there is none.

    Raises:
        ScenarioError: It cannot be read; the message gives the reason.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ScenarioError(f"{path}: not a text file (byte {error.start} is not UTF-8)") from None
    except OSError as error:
        if not isinstance(error, FileNotFoundError):
            raise ScenarioError(f"{path}: {error.strerror or error}") from None
        raise missing(path, remedy) from None


def missing(path: Path, remedy: str) -> ScenarioError:
    """The error for a file that does not exist: the file that is meant, or the commands that make such a file."""
    from . import bundle

    if bundle.holds(path):
        own = "\n  try: `weft scenarios` copies Weft's scenarios here"
    else:
        own = _near(path) or (f"\n  try: {remedy}" if remedy else "")
    return ScenarioError(f"{path}: {os.strerror(errno.ENOENT)}{own}")


def _near(path: Path) -> str:
    """The file of the same directory that a wrong name means."""
    if not path.parent.is_dir():
        return f"; there is no directory {path.parent}"
    files = [one for one in path.parent.iterdir() if one.is_file() and _alike(one.suffix, path.suffix) >= _NEAR]
    near = max(files, key=lambda one: _alike(one.stem, path.stem), default=None)
    return f"; did you mean {near}?" if near and _alike(near.stem, path.stem) >= _NEAR else ""


def _alike(one: str, other: str) -> float:
    """How similar two texts are, from 0 to 1."""
    return difflib.SequenceMatcher(None, one, other).ratio()
