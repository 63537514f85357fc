"""Scheduling delays of processes that are ready to run."""

from __future__ import annotations

import os
import threading
import time

_NAP_S = 0.01


class Stalls:
    """Measures how late an ordinary thread wakes during the block; daemons wake as late.

    Attributes:
        longest_ms: The longest delay, in milliseconds.
    """

    def __init__(self) -> None:
        """Nothing is measured yet."""
        self.longest_ms = 0.0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Stalls:
        """Start measuring."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop measuring."""
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        # This process may have real-time priority, which daemons do not have.
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        while not self._done.is_set():
            due = time.monotonic() + _NAP_S
            self._done.wait(_NAP_S)
            self.longest_ms = max(self.longest_ms, (time.monotonic() - due) * 1000)
