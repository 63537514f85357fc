"""The controller's load benchmark: that it runs, and its results except for speed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benches.controller import load, processes
from benches.controller.processes import LOAD, ROOT, LoadError
from benches.controller.profile import shares
from quick_bench import quick_run

pytest.importorskip("os_ken")
PROGRAMS = [program for program in (LOAD, ROOT / "target/debug" / LOAD.name) if program.exists()]
"""The release build of `make bench-controller` and the Rust tests' debug build: speed is not tested here."""
needs_load = pytest.mark.skipif(not PROGRAMS, reason=f"{LOAD.name} is not built (make bench-controller)")


@pytest.fixture(autouse=True)
def newest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use the most recently built program."""
    if PROGRAMS:
        monkeypatch.setattr(processes, "LOAD", max(PROGRAMS, key=lambda program: program.stat().st_mtime))


def loaded(name: str, *arguments: str) -> dict[str, Any]:
    with load.start(name) as controller:
        return load.load(controller, *arguments)


@needs_load
def test_a_learning_switch_answers_every_new_address_with_a_rule_and_the_packet() -> None:
    report = loaded(load.YARDSTICK, *load.offer(load.YARDSTICK, ""), "--in-progress", "8", "--connections", "100")
    assert report["connections"] == {"opened": 100, "completed": 100, "failed": 0, "alive": 100}
    assert report["latency_ms"]["connection_syn"]["count"] == 100
    messages = report["messages"]
    # The SYN and its answer; the ACK matches the rule.
    assert messages["packet_ins"] == messages["packet_outs"] == messages["flow_mods"] == 200
    assert messages["packet_ins_of_lldp"] == messages["barriers"] == messages["refused"] == 0
    assert load.wrong([report]) == {}


SMALL = ("--fabric", "spine-leaf:4x3x2", "--in-progress", "4", "--connections", "60")


@needs_load
def test_every_subflow_comes_through_on_a_path_of_its_own_and_over_a_spanning_tree_on_one() -> None:
    report, of_tree = (loaded(name, *SMALL) for name in (load.WEFT, load.TREE))
    for each, paths in ((report, 4), (of_tree, 1)):
        assert (each["connections"]["completed"], each["distinct_paths"], load.wrong([each])) == (60, paths, {})
    assert report["unasked_syns"] == 0
    assert [report["latency_ms"][kind]["count"] for kind in ("connection_syn", "join_syn")] == [60, 180]


@needs_load
def test_a_controller_that_never_finds_the_fabric_is_refused_with_how_far_it_came() -> None:
    with pytest.raises(LoadError, match=r"\d of 6 switches.* crossed 0 of 16 directed links"):
        loaded(load.YARDSTICK, "--fabric", "spine-leaf:2x4x2", "--patience", "2")


@pytest.mark.long
@pytest.mark.skipif(not LOAD.exists(), reason=f"{LOAD} is not built (make bench-controller)")
def test_a_quick_run_measures_all_controllers_in_turn(tmp_path: Path) -> None:
    document, _ = quick_run(tmp_path, "controller", "--connections", "100", "--memory", "300")
    figures = document["load"]["figures"]
    assert set(figures["closed"]) == {*load.CONTROLLERS, "of_the_yardstick"}
    for name in load.CONTROLLERS:
        for row in figures["closed"][name].values():
            assert row["wrong"] == {} and row["per_second"]["rounds"] == 2
    assert figures["closed"]["of_the_yardstick"][load.YARDSTICK]["messages"]["median"] == 1
    assert [row["wrong"] for row in figures["open"].values()] == [{}] * len(load.OFFERED)
    assert figures["memory"]["connections"]["alive"] == 300


def test_a_stack_is_spent_on_its_deepest_frame_that_has_a_name_or_on_the_core_that_it_calls(tmp_path: Path) -> None:
    service = tmp_path / "weft" / "controller" / "service.py"
    service.parent.mkdir(parents=True)
    service.write_text("name = 1\nself.core.received(now)\n")
    shell = "data_received (/x/weft/controller/connection.py:60)"
    stacks = [
        f"run (/usr/lib/python3.11/asyncio/base_events.py:600);{shell} 3",
        f"{shell};msg (/x/os_ken/ofproto/ofproto_parser.py:61);unpack (/usr/lib/python3.11/struct.py:1) 5",
        f"{shell};received ({service}:2) 2",
        f"received ({service}:1) 1",
    ]
    found = shares("\n".join(stacks))
    assert found["samples"] == 11
    assert found["shares"] == {"os-ken: parsing and serialising": 5 / 11, "shell": 4 / 11, "core": 2 / 11}
