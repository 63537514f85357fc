"""Waiting for a state, which never depends on how busy the machine is, and sending at a pace."""

import asyncio
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

PATIENCE_S = 120.0
"""Longest wait for a state, many times what it takes: only a state that never comes uses it up."""
_LOOK_S = 0.02
"""Between two looks at a state."""

T = TypeVar("T")


class NeverError(AssertionError):
    """A state that did not come."""


def _looks(what: str, condition: Callable[[], T], state: Callable[[], object] | None, patience_s: float) -> Iterator[T]:
    """What `condition` returns, until it is true; the caller pauses in between."""
    end = time.monotonic() + patience_s
    while True:
        over = time.monotonic() > end
        found = condition()
        yield found
        if over:
            raise NeverError(f"not within {patience_s:g} s: {what}; last: {state() if state else found!r}")


def until(
    what: str,
    condition: Callable[[], T],
    *,
    state: Callable[[], object] | None = None,
    patience_s: float = PATIENCE_S,
) -> T:
    """Wait until `condition` returns something true, and return that.

    After `patience_s` seconds, raises `NeverError`, which tells `what` did not come, and the `state` (by default, what
    `condition` returned last).
    """
    for found in _looks(what, condition, state, patience_s):
        if found:
            break
        time.sleep(_LOOK_S)
    return found


async def until_async(
    what: str,
    condition: Callable[[], T],
    *,
    state: Callable[[], object] | None = None,
    patience_s: float = PATIENCE_S,
) -> T:
    """As `until`, while other coroutines run."""
    for found in _looks(what, condition, state, patience_s):
        if found:
            break
        await asyncio.sleep(_LOOK_S / 4)
    return found


def paced(gap_s: float) -> Iterator[int]:
    """0, 1, 2 and so on, one every `gap_s` seconds or, on a busy machine, later: the pace of what is sent."""
    number, due = 0, time.monotonic()
    while True:
        yield number
        number, due = number + 1, max(due + gap_s, time.monotonic() - gap_s)
        time.sleep(max(0.0, due - time.monotonic()))


def cpu_s(process: int) -> float:
    """CPU time that a process has used, in seconds: how far it has come, on a busy machine too."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
