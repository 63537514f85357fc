"""Text files of users: scenarios and fabrics."""

import difflib
from pathlib import Path

from .errors import ScenarioError


def read_text(path: Path) -> str:
    """The text of a user's file, without the byte order mark that editors on Windows write.

    Raises:
        ScenarioError: It cannot be read; the message gives the reason.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ScenarioError(f"{path}: not a text file (byte {error.start} is not UTF-8)") from None
    except OSError as error:
        from . import bundle

        if not isinstance(error, FileNotFoundError):
            raise ScenarioError(f"{path}: {error.strerror or error}") from None
        own = "\n  try: `weft scenarios` copies Weft's scenarios here" if bundle.holds(path) else _near(path)
        raise ScenarioError(f"{path}: {error.strerror}{own}") from None


def _near(path: Path) -> str:
    """The file of the same directory that a wrong name means."""
    if not path.parent.is_dir():
        return f"; there is no directory {path.parent}"
    names = {one.stem: one for one in path.parent.iterdir() if one.is_file() and one.suffix == path.suffix}
    near = difflib.get_close_matches(path.stem, names, 1)
    return f"; did you mean {names[near[0]]}?" if near else ""
