"""The entry point of the command `weft`: Ctrl-C ends it without a traceback while it imports the rest, too.

So this module itself, and the package before it, import next to nothing.
"""

import sys

from .codes import INTERRUPTED


def main() -> None:
    """Run the command line."""
    try:
        from . import cli

        cli.main()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
