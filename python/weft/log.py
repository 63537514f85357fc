"""Log of long-running commands: one line per event on standard error, with time and level.

A separate thread writes the lines, so that a slow terminal never blocks the command.
"""

import logging
import logging.handlers
import queue
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from .labels import visible

_COLOURS = {logging.ERROR: "\033[1;31m", logging.WARNING: "\033[1;33m", logging.DEBUG: "\033[2m"}
_NAMES = {logging.ERROR: "error", logging.WARNING: "warning", logging.INFO: "info", logging.DEBUG: "debug"}
_WAITING = 10_000
"""Length of the queue of lines to be written; lines beyond it are dropped."""


class Lines(logging.Formatter):
    """One line per event; in colour on a terminal."""

    def __init__(self, *, colour: bool) -> None:
        super().__init__("%(asctime)s %(level)s %(message)s", datefmt="%H:%M:%S")
        self._colour = colour

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's name
        """The line without a traceback, with newlines and control characters in names escaped."""
        record.message = visible(record.message).replace("\n", "\\n")
        return super().formatMessage(record)

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        level = f"{_NAMES.get(record.levelno, record.levelname.lower()):7}"
        colour = _COLOURS.get(record.levelno, "") if self._colour else ""
        record.level = f"{colour}{level}\033[0m" if colour else level
        return super().format(record)


class _Waiting(logging.handlers.QueueHandler):
    """Never blocks: drops lines while the queue is full."""

    def enqueue(self, record: logging.LogRecord) -> None:
        """Enqueue a line if there is room."""
        try:
            self.queue.put_nowait(record)
        except queue.Full:
            return


@contextmanager
def lines(package: str, *, verbose: bool, quiet: bool) -> Iterator[None]:
    """Write a package's log during the block: with debug output if `verbose`, only warnings if `quiet`."""
    logger = logging.getLogger(package)
    sink = logging.StreamHandler(sys.stderr)
    sink.setFormatter(Lines(colour=sys.stderr.isatty()))
    waiting: queue.Queue[logging.LogRecord] = queue.Queue(_WAITING)
    handler = _Waiting(waiting)
    listener = logging.handlers.QueueListener(waiting, sink)
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG if verbose else logging.WARNING if quiet else logging.INFO)
    logger.propagate = False
    listener.start()
    try:
        yield
    finally:
        listener.stop()
        logger.removeHandler(handler)
