"""Frames lost while daemons are killed and restarted, or upgraded; the target is zero."""

import time
from collections.abc import Callable
from typing import Any

from benches.switch.lab import Lab
from benches.switch.peers import Switch, Weft
from benches.switch.ring import Stream, build

AWAY = 2.0
"""Seconds until a killed daemon is restarted."""


def measure(trials: int, progress: Callable[[str], None]) -> dict[str, Any]:
    """Frames lost from a flow over two switches whose daemons are both killed, or both upgraded."""
    result: dict[str, Any] = {}
    with Lab() as lab:
        daemons = [Weft(lab, f"s{number}", "tcp-path") for number in (1, 2, 3)]
        of_ring: list[Switch] = list(daemons)
        ring = build(lab, of_ring)
        time.sleep(5)
        for way, act in (("kill -9, none for 2 s", killed), ("upgrade", upgraded)):
            rows = []
            for trial in range(trials):
                progress(f"{way}, {trial + 1} of {trials}")
                stream = Stream(ring, 21_000 + trial, AWAY + 4)
                time.sleep(0.5)
                act(daemons[:2])
                received = stream.result()
                rows.append({key: received[key] for key in ("expected", "lost", "twice", "longest_pause_ms")})
                time.sleep(1)
            result[way] = {
                "frames": sum(row["expected"] for row in rows),
                "lost": sum(row["lost"] for row in rows),
                "target": 0,
                "trials": rows,
            }
    return result


def killed(daemons: list[Weft]) -> None:
    """Kills the daemons and restarts them after `AWAY` seconds."""
    for daemon in daemons:
        daemon.kill()
    time.sleep(AWAY)
    for daemon in daemons:
        daemon.launch()


def upgraded(daemons: list[Weft]) -> None:
    """Stops each daemon and starts a new one, which adopts its data plane."""
    for daemon in daemons:
        daemon.stop()
        daemon.launch()
