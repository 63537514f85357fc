"""The bar that `weft.run` shows after two seconds: HTML in a notebook, `sweep_view` in a terminal, else nothing."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from .labels import visible
from .markup import escape
from .progress import Tracker
from .sweep_view import PATIENCE, View, status

Feed = Callable[[dict[str, Any]], None]
_PAUSE = 0.25
"""Seconds between two drawings in a notebook."""


class _Screen(Protocol):
    """Where a bar is drawn."""

    def draw(self) -> None:
        """Draw the present state."""

    def close(self) -> None:
        """Remove the bar."""


@contextmanager
def bar(title: str, clock: Callable[[], float] = time.monotonic) -> Iterator[Feed | None]:
    """The function to call with each event of the engine, which draws from two seconds on; None without a screen."""
    tracker = Tracker(started=clock())
    open_screen = _opener(title, tracker, clock)
    if open_screen is None:
        yield None
        return
    screen: _Screen | None = None

    def feed(event: dict[str, Any]) -> None:
        nonlocal screen
        tracker.feed(event)
        if clock() - tracker.started >= PATIENCE:
            screen = screen or open_screen()
            screen.draw()

    try:
        yield feed
    finally:
        if screen is not None:
            screen.close()


def _opener(title: str, tracker: Tracker, clock: Callable[[], float]) -> Callable[[], _Screen] | None:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if ipython is not None and getattr(shell, "kernel", None) is not None:
        return lambda: _Notebook(ipython.display.display, title, tracker, clock)
    return (lambda: _Terminal(title, tracker, clock)) if sys.stderr.isatty() else None


class _Notebook:
    """An output of a notebook's cell, which has no events of its own."""

    def __init__(self, display: Callable[..., Any], title: str, tracker: Tracker, clock: Callable[[], float]) -> None:
        self._title, self._tracker, self._clock = title, tracker, clock
        self._drawn = clock()
        self._output = display(self._content(), raw=True, display_id=True)

    def draw(self) -> None:
        if self._clock() - self._drawn >= _PAUSE:
            self._drawn = self._clock()
            self._output.update(self._content(), raw=True)

    def close(self) -> None:
        self._output.update({"text/plain": "", "text/html": ""}, raw=True)

    def _content(self) -> dict[str, str]:
        said = status(self._tracker, self._clock())
        fraction = self._tracker.fraction
        meter = f"<progress value='{fraction:.3f}' max='1'></progress>"
        return {
            "text/plain": f"{visible(self._title)} {fraction:.0%} · {said}",
            "text/html": f"{escape(self._title)} {meter} {fraction:.0%} · {escape(said)}",
        }


class _Terminal:
    """Lines at the end of a terminal, which are drawn again by a thread."""

    def __init__(self, title: str, tracker: Tracker, clock: Callable[[], float]) -> None:
        from rich.console import Console
        from rich.live import Live

        view = View(visible(title), tracker, clock)
        self._live = Live(view, console=Console(stderr=True), refresh_per_second=5, transient=True)
        self._live.start()

    def draw(self) -> None:
        """The thread draws."""

    def close(self) -> None:
        self._live.stop()
