"""Collectives in chunks on an idle fabric: trees, chains and pipelines against closed forms and against fluids."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from fluid import Message, completion
from weft.scenario import Scenario

BYTES = 32_000_000
RATE = 400e9
DELAY = 200e-9
"""Of the two links between two hosts."""
HEADERS = (4096 + 100) / 4096
ANSWERS = 102 / 4 / 4096
"""An acknowledgement for each 16,384 bytes takes this much of a link that is used both ways."""
TEXT = """
[fabric]
kind = "spine-leaf"
spines = 1
leaves = 1
hosts_per_leaf = {ranks}
rate = "400 Gbps"
delay = "100 ns"
queue = "4 MB"
queues = {{ scheduler = "strict-priority", weights = [1, 1] }}
trim = true

[traffic]
collective = "{collective}"
bytes = "32 MB"
connections = "persistent"
chunks = {chunks}

[scheme]
name = "ecmp"

[transport]
protocol = "uec"
congestion = "fixed"
window = 64
rto = "1 ms"

[run]
duration = "10 ms"
limit = "1 s"
"""
Around = tuple[int | None, list[int]]
"""A rank's parent and children."""


def took(collective: str, ranks: int, chunks: int, out: Path) -> float:
    """The completion time, in units of the time of all bytes on a link."""
    scenario = Scenario.from_text(TEXT.format(collective=collective, ranks=ranks, chunks=chunks))
    scenario.run(out, jobs=1)
    (found,) = (out / "runs").glob("*/summary.json")
    (entry,) = json.loads(found.read_text())["collectives"]
    assert entry["completion_ps"] >= entry["bound_ps"]
    return entry["completion_ps"] / 1e12 * RATE / 8 / BYTES


def by_levels(rank: int, ranks: int) -> Around:
    """In a tree filled level by level."""
    children = [child for child in (2 * rank + 1, 2 * rank + 2) if child < ranks]
    return (rank - 1) // 2 if rank else None, children


def of_nccl(rank: int, ranks: int) -> Around:
    """In the first of NCCL's two trees, for a power of two of ranks: rank 0 above the middle, which is above halves."""
    if rank == 0:
        return None, [ranks // 2]
    bit = rank & -rank
    above = (rank ^ bit) | bit << 1
    return above % ranks, [rank - bit // 2, rank + bit // 2] if bit > 1 else []


def reversed_of_nccl(rank: int, ranks: int) -> Around:
    """In the second one: the first with its ranks in reverse."""
    parent, children = of_nccl(ranks - 1 - rank, ranks)
    return None if parent is None else ranks - 1 - parent, [ranks - 1 - child for child in children]


def tree(near: Callable[[int, int], Around], ranks: int, size: float, chunks: int, first: int) -> list[Message]:
    """All messages of a tree, numbered from `first` on."""
    messages: list[Message] = []
    parents = {rank: parent for rank in range(ranks) if (parent := near(rank, ranks)[0]) is not None}
    for _ in range(chunks):
        base = first + len(messages)
        up = {rank: base + at for at, rank in enumerate(parents)}
        down = {rank: base + len(parents) + at for at, rank in enumerate(parents)}

        def received(rank: int, up: dict[int, int] = up) -> list[int]:
            return [up[child] for child in near(rank, ranks)[1]]

        for rank, parent in parents.items():
            messages.append(Message(rank, parent, size / chunks, (first, "up", rank), received(rank)))
        for rank, parent in parents.items():
            after = [down[parent]] if parent in parents else received(parent)
            messages.append(Message(parent, rank, size / chunks, (first, "down", rank), after))
    return messages


@pytest.mark.parametrize(("levels", "chunks"), [(1, 1), (1, 8), (2, 1), (2, 8), (3, 1), (3, 8)])
def test_a_tree_takes_the_time_of_its_closed_form(levels, chunks, tmp_path):
    found = took("tree-all-reduce", 2 ** (levels + 1) - 1, chunks, tmp_path / "results")
    # Two children share their parent's link on each level, up and down; in each further chunk, inner ranks have three
    # neighbours, and a root alone two.
    steps = 4 * levels + (2 if levels == 1 else 3) * (chunks - 1)
    wire = HEADERS + (ANSWERS if chunks > 1 else 0)
    assert found == pytest.approx(steps / chunks * wire + 2 * levels * DELAY * RATE / 8 / BYTES, rel=0.01)


@pytest.mark.parametrize("ranks", [4, 8, 16])
@pytest.mark.parametrize("collective", ["tree-all-reduce", "double-tree-all-reduce"])
def test_the_bound_of_one_chunk_knows_that_children_share_a_link(collective, ranks, tmp_path):
    """With one chunk, only headers lie between the bound and the time of trees whose levels are full."""
    ranks -= collective == "tree-all-reduce"
    took(collective, ranks, 1, tmp_path / "results")
    (found,) = (tmp_path / "results" / "runs").glob("*/summary.json")
    (entry,) = json.loads(found.read_text())["collectives"]
    assert entry["completion_ps"] == pytest.approx(entry["bound_ps"] * HEADERS, rel=0.01)


@pytest.mark.parametrize("collective", ["broadcast", "pipeline"])
@pytest.mark.parametrize(("ranks", "chunks"), [(5, 1), (5, 8), (16, 64)])
def test_a_chain_takes_the_time_of_its_closed_form(collective, ranks, chunks, tmp_path):
    found = took(collective, ranks, chunks, tmp_path / "results")
    steps = ranks - 1 + chunks - 1
    assert found == pytest.approx(steps / chunks * HEADERS + (ranks - 1) * DELAY * RATE / 8 / BYTES, rel=0.01)


@pytest.mark.parametrize(("ranks", "chunks"), [(4, 1), (4, 8), (8, 1), (8, 8), (16, 1), (16, 8), (16, 64)])
def test_a_double_tree_takes_the_time_of_fluids_that_share_links_fairly(ranks, chunks, tmp_path):
    found = took("double-tree-all-reduce", ranks, chunks, tmp_path / "results")
    size = 0.5 * (HEADERS + (ANSWERS if chunks > 1 else 0))
    messages = tree(of_nccl, ranks, size, chunks, 0)
    messages += tree(reversed_of_nccl, ranks, size, chunks, len(messages))
    assert found == pytest.approx(completion(messages, DELAY * RATE / 8 / BYTES), rel=0.01)


@pytest.mark.parametrize(("ranks", "chunks"), [(6, 1), (6, 8), (16, 1), (16, 8)])
def test_a_tree_of_any_size_takes_the_time_of_fluids_that_share_links_fairly(ranks, chunks, tmp_path):
    found = took("tree-all-reduce", ranks, chunks, tmp_path / "results")
    size = HEADERS + (ANSWERS if chunks > 1 else 0)
    messages = tree(by_levels, ranks, size, chunks, 0)
    assert found == pytest.approx(completion(messages, DELAY * RATE / 8 / BYTES), rel=0.01)


def test_chunks_on_connections_of_their_own_do_not_compete(tmp_path):
    """With a connection each, the second chunk starts once the first is acknowledged."""
    own = TEXT.replace('connections = "persistent"', 'connections = "per-message"')
    scenario = Scenario.from_text(own.format(collective="broadcast", ranks=3, chunks=2))
    results = scenario.run(tmp_path / "results", jobs=1)
    flows = results.flows().sort("flow")
    starts, ends = flows["start_ps"].to_list(), flows["fct_ps"].to_list()
    assert starts[2] >= starts[0] + ends[0] and starts[3] >= starts[1] + ends[1]


@pytest.mark.parametrize("stragglers", ["", "stragglers = 1\nstraggler_factor = 30\n"])
def test_rounds_of_a_pipeline_that_computes_follow_each_other_on_open_connections(stragglers, tmp_path):
    text = TEXT.replace("chunks = {chunks}\n", 'chunks = {chunks}\nrepeats = 2\ncompute = "1 us"\n' + stragglers)
    scenario = Scenario.from_text(text.format(collective="pipeline", ranks=3, chunks=2))
    scenario.run(tmp_path / "results", jobs=1)
    (found,) = (tmp_path / "results" / "runs").glob("*/summary.json")
    rounds = json.loads(found.read_text())["collectives"]
    # A round is three parts, and a delay and a computation of each of two ranks; a straggler computes for longer.
    least = 3 / 2 * HEADERS * 8 * BYTES / RATE
    slow = 29e-6 if stragglers else 0.0
    assert [entry["flows_finished"] for entry in rounds] == [4, 4]
    assert all(slow < entry["completion_ps"] / 1e12 - least < 2 * slow + 10e-6 for entry in rounds)
