"""The entry point of the command `weft`: Ctrl-C ends it without a traceback while it imports the rest, too."""

from __future__ import annotations

import sys

from .errors import INTERRUPTED


def main() -> None:
    """Run the command line."""
    try:
        from . import cli

        cli.main()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
