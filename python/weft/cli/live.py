"""The live display of a sweep: one bar for all runs, one line per active run, rates and time left."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console

from .. import quantity
from ..labels import plural, visible
from ..progress import Tracker
from ..sweep_view import BAR, PATIENCE, View, status

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_PLAIN_SECONDS = 10.0
"""Interval between lines when the output is not a terminal."""
_AGAIN = 5.0
"""Seconds between the lines about work of unknown size."""
_SAYING = """
import os, sys, time
text, parent, patience, again = sys.argv[1], int(sys.argv[2]), *map(float, sys.argv[3:])
begin = time.monotonic()
time.sleep(patience)
print(text, file=sys.stderr, flush=True)
time.sleep(again)
while os.getppid() == parent:
    print(text, f"{time.monotonic() - begin:.0f} s", file=sys.stderr, flush=True)
    time.sleep(again)
"""
"""The program that prints them, until the process that started it ends."""


@contextmanager
def shown(
    title: str, console: Console, clock: Callable[[], float] = time.monotonic, *, quiet: bool = False
) -> Iterator[tuple[Tracker, Callable[[dict[str, Any]], None]]]:
    """A tracker and the callback that feeds it, drawn on `console` while the block runs.

    Without a terminal, it prints a line at the start and every few seconds instead, so that logs stay readable;
    with `quiet`, nothing.
    """
    tracker = Tracker(started=clock())
    if quiet:
        yield tracker, tracker.feed
        return
    view = View(title, tracker, clock)
    if console.is_terminal:
        from rich.live import Live

        with Live(view, console=console, refresh_per_second=5, transient=True):
            yield tracker, tracker.feed
        return
    printed: float | None = None

    def feed(event: dict[str, Any]) -> None:
        nonlocal printed
        tracker.feed(event)
        if not tracker.total:
            return
        if printed is None:
            line = plural(tracker.total, "run")
        elif clock() - printed >= _PLAIN_SECONDS:
            line = status(tracker, clock())
        else:
            return
        printed = clock()
        console.print(f"{title}: {line}", markup=False, soft_wrap=True)

    yield tracker, feed


@contextmanager
def announced(text: str) -> Iterator[None]:
    """Print `text` on standard error if the block takes longer than `PATIENCE`, and every `_AGAIN` seconds the time.

    A separate process prints it: while the engine works on a fabric, no other thread of this process can run.
    """
    command = [sys.executable, "-ISc", _SAYING, visible(text), str(os.getpid()), str(PATIENCE), str(_AGAIN)]
    waiting = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        yield
    finally:
        waiting.kill()
        waiting.wait()


@contextmanager
def reading(
    console: Console, clock: Callable[[], float] = time.monotonic
) -> Iterator[Callable[[str, float, float], None]]:
    """The callback for work of known size: a description, the amount done, and all of it.

    Work that takes longer than `PATIENCE` is drawn as a bar with the time left; without a terminal, it prints a line
    every few seconds.
    """
    bar: Progress | None = None
    began: dict[str, float] = {}
    tasks: dict[str, TaskID] = {}
    printed = 0.0

    def feed(what: str, done: float, total: float) -> None:
        nonlocal bar, printed
        now = clock()
        start = began.setdefault(what, now)
        if now - start < PATIENCE and what not in tasks:
            return
        if console.is_terminal:
            if bar is None:
                bar = _bar(console)
            if what not in tasks:
                bar.start()
                tasks[what] = bar.add_task(visible(what), total=total)
            bar.update(tasks[what], completed=done, visible=done < total)
        elif done < total and now - printed >= _PLAIN_SECONDS:
            printed = now
            left = f", {quantity.clock((now - start) * (total - done) / done)} left" if done > 0 else ""
            console.print(f"{what}: {done / total:.0%}{left}", markup=False, soft_wrap=True)

    try:
        yield feed
    finally:
        if bar is not None:
            bar.stop()


def _bar(console: Console) -> Progress:
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(BAR), TaskProgressColumn(), TimeRemainingColumn())
    return Progress(*columns, console=console, transient=True)
