"""Text files of users: scenarios and fabrics."""

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

        own = "\n  try: `weft scenarios` copies Weft's scenarios here" if bundle.holds(path) else ""
        raise ScenarioError(f"{path}: {error.strerror or error}{own}") from None
