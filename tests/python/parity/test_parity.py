"""The short form of the table: a cell for each case and mode, as good as the bridge's."""

from __future__ import annotations

import io
import subprocess
import sys
import time
from types import SimpleNamespace
from typing import IO, cast

import pytest

from . import moves, runs
from .cell import Cell
from .fabric import BRIDGE, Fabric
from .runs import COLUMNS, Outcome, run, why_not
from .stations import address, longest_outage
from .table import BRIDGE_FALLS_SHORT, MEANT
from .tap import CapturedFrame, Tap
from .verdict import failures, late_times, markdown, wrong_facts


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    if reason := why_not():
        pytest.skip(reason)
    return run("short")


@pytest.mark.parametrize("column", COLUMNS)
def test_each_cell_of_a_column_is_as_good_as_the_bridges(outcome: Outcome, column: str) -> None:
    wrong = {
        row: failures(row, column, cells[column], cells.get(BRIDGE)) if column in cells else ["not measured"]
        for row, cells in outcome.cells.items()
    }
    wrong = {row: found for row, found in wrong.items() if found}
    table = markdown({row: outcome.cells[row] for row in wrong}, list(COLUMNS))
    assert outcome.cells, outcome.notes
    assert not wrong, f"{wrong}\n{table}\n" + "\n".join(outcome.notes)


def test_differences_that_are_meant_are_of_rows_that_there_are(outcome: Outcome) -> None:
    for row, name in (*MEANT, *BRIDGE_FALLS_SHORT):
        cell = outcome.cells[row][BRIDGE]
        assert name in (*cell.facts, *cell.times)


def test_a_cell_is_held_to_what_should_be_or_to_what_is_meant() -> None:
    cell = Cell()
    cell.fact("STP", [0, 0, 0, 0], [0, 1, 1, 1])
    assert wrong_facts("STP", "arp-path", cell) == []
    assert wrong_facts("STP", BRIDGE, cell) == ["STP: 0 0 0 0, not 0 1 1 1"]
    cell.fact("STP", [0, 1, 1, 1], [0, 1, 1, 1])
    assert wrong_facts("STP", "arp-path", cell) == ["STP: 0 1 1 1, not 0 0 0 0"]


def test_a_time_is_held_to_its_bound_or_to_the_bridges() -> None:
    cell, bridge = Cell(), Cell()
    cell.time("slowest", 6.0, 5.0)
    assert late_times("a row", "tfe", cell, None) == ["slowest: 6.0 ms, bound 5 ms"]
    bridge.time("slowest", 7.0, 5.0)
    assert late_times("a row", "tfe", cell, bridge) == []
    cell.time("slowest", None, 5.0)
    assert late_times("a row", "tfe", cell, bridge) == ["slowest: never, bound 5 ms"]


def test_an_outage_is_what_is_lost_and_not_what_a_sender_did_not_send() -> None:
    steady = [number / 100 for number in range(100)]
    assert longest_outage(steady, set(range(100))) == 0
    assert longest_outage(steady, set(range(100)) - set(range(20, 50))) == pytest.approx(0.3)
    assert longest_outage(steady, set(range(60))) == pytest.approx(0.4)
    assert longest_outage(steady, set()) == pytest.approx(1)
    # The sender paused for 2 s; one datagram was lost before and one after the pause.
    late = [*steady[:50], *(at + 2 for at in steady[50:])]
    assert longest_outage(late, set(range(100))) == 0
    assert longest_outage(late, set(range(100)) - {49, 50}) == pytest.approx(0.03)


class _HubTap:
    """A tap at a hub (its list of taps), which delivers frames at once to all taps with a carrier."""

    def __init__(self, hub: list[_HubTap], *, carrier: bool = True) -> None:
        self.hub, self.carrier = hub, carrier
        self.waiting: list[CapturedFrame] = []
        hub.append(self)

    def send(self, frame: bytes) -> None:
        for tap in self.hub:
            if tap is not self and tap.carrier:
                tap.waiting.append(CapturedFrame(frame, time.time()))

    def read(self) -> list[CapturedFrame]:
        heard, self.waiting = self.waiting, []
        return heard


def test_a_move_is_watched_from_its_end_however_long_it_takes_to_plug_a_host_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hub: list[_HubTap] = []
    ends = [_HubTap(hub), _HubTap(hub, carrier=False)]
    callers = {host: (cast(Tap, _HubTap(hub)), address(number)) for number, host in enumerate(("h2", "h4"), 1)}

    late = 0.0

    def plug(_: Fabric, end: str, *, up: bool) -> None:
        nonlocal late
        late += 0.75
        ends[int(end[-1])].carrier = up

    now, passed = time.time, time.monotonic
    clock = SimpleNamespace(time=lambda: now() + late, monotonic=lambda: passed() + late)
    monkeypatch.setattr(moves, "time", clock)
    monkeypatch.setattr(sys.modules[__name__], "time", clock)
    monkeypatch.setattr(moves, "_carrier", plug)
    took = moves._one_move(
        cast(Fabric, None), "nothing", True, address(3), callers, [cast(Tap, end) for end in ends], 0, 1
    )
    assert all(milliseconds is not None and milliseconds < 500 for milliseconds in took.values()), took


def test_a_line_says_which_group_is_done_and_how_many_are_left_as_soon_as_it_is() -> None:
    jails = []
    for column in ("slow", "fast"):
        process = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
        jails.append(runs._Jail(column, "moves", process, io.BytesIO(), io.BytesIO()))
    slow, fast = (cast(IO[bytes], jail.process.stdin) for jail in jails)
    lines: list[str] = []

    def say(line: str) -> None:
        lines.append(line)
        slow.close()

    fast.close()
    assert runs._wait("short", jails, say) == [0, 0]
    assert [line.partition(": ")[2] for line in lines] == [
        "fast, moves: done; 1 of 2 left",
        "slow, moves: done; 0 of 2 left",
    ]
