"""The entry point of the command `weft`: Ctrl-C ends it without a traceback while it imports the rest, too.

So this module itself, and the package before it, import next to nothing.
"""

import gc
import os
import sys

from .codes import INTERRUPTED


def main() -> None:
    """Run the command line."""
    # Imports make many objects that stay: looking through them again and again takes an eighth of a short command.
    gc.set_threshold(50_000)
    # NumPy's linear algebra, which Weft does not use, would start a thread per core that spins for a tenth of a second.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        from . import cli

        cli.main()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    finally:
        # At exit, Python looks through all objects once more, which takes a sixth of a short command.
        gc.freeze()
