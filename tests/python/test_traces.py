"""Traces of ranks, from their files to results: GOAL as text and in its binary form, and Chakra."""

from __future__ import annotations

import struct
import time
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import chakra
from chakra import ALL_REDUCE, COLLECTIVE, COMPUTE, RECEIVE, SEND, node
from weft.cli import app
from weft.scenario import Scenario

SCENARIO = """
[fabric]
kind = "spine-leaf"
spines = 2
leaves = 2
hosts_per_leaf = 4
rate = "1 Gbps"
delay = "1 us"

[traffic]
trace = "{trace}"

[transport]
protocol = "roce"

[scheme]
name = "ecmp"

[run]
duration = "1 s"
"""
US = 1_000_000

GOAL = """num_ranks 2
rank 0 {
a: calc 10000
b: calc 20000
c: calc 5000 cpu 1
d: send 1000b to 1 tag 1
e: send 1000b to 1 tag 2
f: send 1000b to 1 tag 3
g: send 125000b to 1 tag 4 nic 1
h: send 1000b to 1 tag 5 nic 1
d requires a
e requires b
f requires c
}
rank 1 {
r: recv 1000b from 0 tag 1
s: recv 1000b from 0 tag 2
t: recv 1000b from 0 tag 3
u: recv 125000b from 0 tag 4
v: recv 1000b from 0 tag 5
}
"""


def scenario(directory: Path, trace: str, more: str = "", rate: str = "1 Gbps") -> Scenario:
    path = directory / "scenario.toml"
    text = SCENARIO.format(trace=trace).replace('"1 Gbps"', f'"{rate}"')
    path.write_text(text.replace("[transport]", f"{more}\n[transport]"))
    return Scenario.from_file(path)


def flows(directory: Path, trace: str, more: str = "", threads: int = 1, rate: str = "1 Gbps") -> pl.DataFrame:
    """The flows of a run, in order of their starts."""
    out = directory / f"results-{threads}"
    scenario(directory, trace, more, rate).run(out, jobs=1, threads=threads)
    (file,) = out.glob("runs/*/flows.parquet")
    return pl.read_parquet(file).sort("start_ps", "src", "bytes", "dst")


def collective(directory: Path, keys: str) -> int:
    """The time that a collective takes by itself."""
    path = directory / "scenario.toml"
    path.write_text(SCENARIO.replace('trace = "{trace}"', keys))
    Scenario.from_file(path).run(directory / "results", jobs=1)
    (file,) = directory.glob("results/runs/*/flows.parquet")
    return int(pl.read_parquet(file)["end_ps"].max())


def run_bytes(directory: Path) -> dict[str, bytes]:
    (run,) = (directory / "results-1" / "runs").iterdir()
    return {file.name: file.read_bytes() for file in sorted(run.iterdir())}


def block(operations: list[tuple[int, int, int, int, int, int]], requires: list[tuple[int, int]]) -> bytes:
    """A rank of GOAL's binary form: type, peer, size, tag, cpu and nic of each operation."""
    count = [sum(waiting == at for waiting, _ in requires) for at in range(len(operations))]
    roots = [at for at, needs in enumerate(count) if needs == 0]
    appendix: list[int] = []
    nodes = b""
    for at, (kind, peer, size, tag, cpu, nic) in enumerate(operations):
        dependents = [waiting for waiting, on in requires if on == at]
        nodes += struct.pack("<IBIQIBB", count[at], kind, peer, size, tag, cpu, nic)
        nodes += struct.pack("<IIII", len(dependents), len(appendix), 0, len(appendix) + len(dependents))
        appendix += dependents
    numbers = [len(operations), len(roots), *roots]
    return struct.pack(f"<{len(numbers)}I", *numbers) + nodes + struct.pack(f"<{len(appendix)}I", *appendix)


def binary(blocks: list[bytes], cpus: int, nics: int) -> bytes:
    table, at = b"", 6 + 16 * len(blocks)
    for content in blocks:
        table += struct.pack("<QQ", at, at + len(content))
        at += len(content)
    return struct.pack("<QIBB", 4223, len(blocks), cpus, nics) + table + b"".join(blocks)


def test_one_cpu_calculates_and_one_nic_sends_one_after_the_other_in_goal(tmp_path):
    (tmp_path / "a.goal").write_text(GOAL)
    starts = flows(tmp_path, "a.goal")["start_ps"].to_list()
    # `cpu 0` calculates until 10 and 30 us. 1 000 bytes take 8 us of `nic 0` from 5 us on, so the message that is ready
    # at 10 us starts at 13 us; 125 000 bytes take 1 ms of `nic 1`.
    assert starts == [0, 5 * US, 13 * US, 30 * US, 1_000 * US]


def test_both_forms_of_goal_have_the_same_results(tmp_path):
    send, receive, calc = 1, 2, 3
    first = [(calc, 0, 10_000, 0, 0, 0), (calc, 0, 20_000, 0, 0, 0), (calc, 0, 5_000, 0, 1, 0)]
    first += [(send, 1, 1_000, tag, 0, 0) for tag in (1, 2, 3)]
    first += [(send, 1, 125_000, 4, 0, 1), (send, 1, 1_000, 5, 0, 1)]
    second = [(receive, 0, 125_000 if tag == 4 else 1_000, tag, 0, 0) for tag in range(1, 6)]
    results = []
    for form, content in (
        ("text", GOAL.encode()),
        ("binary", binary([block(first, [(3, 0), (4, 1), (5, 2)]), block(second, [])], 1, 1)),
    ):
        directory = tmp_path / form
        directory.mkdir()
        (directory / "a.bin").write_bytes(content)
        flows(directory, "a.bin")
        results.append(run_bytes(directory))
    assert results[0] == results[1]


def test_a_step_takes_its_computation_and_the_time_of_a_ring(tmp_path):
    ranks, steps, us, size = 4, 3, 2_000, 4_000_000
    nodes = []
    for step in range(steps):
        nodes.append(node(2 * step, COMPUTE, [2 * step - 1] if step else [], us))
        nodes.append(node(2 * step + 1, COLLECTIVE, [2 * step], comm_type=ALL_REDUCE, comm_size=size))
    chakra.write(tmp_path, [nodes] * ranks)
    table = flows(tmp_path, "step.{rank}.et", "ranks = 4")
    rounds = 2 * (ranks - 1)
    assert len(table) == ranks * rounds * steps
    # The time of the same ring by itself. It is more than that of its data: 1 024 bytes in each frame of 1 082, with
    # preamble and gap 1 102 bytes; acknowledgements share the links.
    alone = tmp_path / "alone"
    alone.mkdir()
    ring = collective(alone, f'collective = "ring-all-reduce"\nbytes = "{size} B"\nranks = {ranks}')
    assert ring >= rounds * size / ranks * 8_000 * 1_102 / 1_024
    ends = table["end_ps"].to_list()
    for step in range(steps):
        end = max(ends[step * ranks * rounds : (step + 1) * ranks * rounds])
        assert end == pytest.approx((step + 1) * (us * US + ring), rel=0.01)


def test_a_chain_of_messages_and_computations(tmp_path):
    def relay(rank: int) -> list[bytes]:
        got = [node(1, RECEIVE, comm_src=rank - 1, comm_size=100_000)] if rank else []
        work = node(2, COMPUTE, [1] if rank else [], 50)
        return [*got, work, *([node(3, SEND, [2], comm_dst=rank + 1, comm_size=100_000)] if rank < 3 else [])]

    chakra.write(tmp_path, [relay(rank) for rank in range(4)])
    table = flows(tmp_path, "step.{rank}.et")
    assert table["src"].to_list() == ["h0", "h1", "h2"]
    starts, ends = table["start_ps"].to_list(), table["end_ps"].to_list()
    assert starts == [50 * US, *(end + 50 * US for end in ends[:-1])]


@pytest.mark.parametrize("rate", ["1 Gbps", "100 Gbps"])  # one event after the other, and in rounds
def test_the_division_into_threads_changes_nothing_where_processors_have_queues(tmp_path, rate):
    def nodes(rank: int) -> list[bytes]:
        works = [node(at, COMPUTE, us=7 + 3 * at + rank) for at in range(4)]
        sends = [node(10 + at, SEND, [at], comm_dst=(rank + 3) % 8, comm_size=9_000 + at) for at in range(4)]
        receives = [node(20 + at, RECEIVE, comm_src=(rank + 5) % 8) for at in range(4)]
        more = [node(30 + at, COMPUTE, [20 + at], 11) for at in range(4)]
        return [
            *works,
            *sends,
            *receives,
            *more,
            node(40, COLLECTIVE, [30, 33], comm_type=ALL_REDUCE, comm_size=64_000),
        ]

    chakra.write(tmp_path, [nodes(rank) for rank in range(8)])
    first = flows(tmp_path, "step.{rank}.et", rate=rate)
    assert first.equals(flows(tmp_path, "step.{rank}.et", threads=2, rate=rate))
    own = first.filter((pl.col("src") == "h0") & pl.col("bytes").is_between(9_000, 9_003)).sort("bytes")
    # 7, 10, 13 and 16 us, one after the other.
    assert own["start_ps"].to_list() == [7 * US, 17 * US, 30 * US, 46 * US]


@pytest.mark.parametrize(
    ("ranks", "more", "message"),
    [
        ([0, 1, 3], "", "there is `step.3.et`, but no `step.2.et`"),
        ([], "", "there is no `step.0.et` in "),
        (range(9), "", "rank 8 has no host: there are 9 ranks, and the fabric has 8 hosts"),
        ([0, 1], "ranks = 4", "`ranks` is 4, but the trace has 2 ranks; set `ranks` to 2, or remove it"),
        ([0, 1], 'communicators = "none.json"', "`none.json`"),
        ([0, 1], 'communicators = "bad.json"', "communicator `1` has rank 9, and the last one is 1"),
    ],
)
def test_missing_files_and_hosts_are_named_and_nothing_is_written(tmp_path, ranks, more, message):
    chakra.write(tmp_path, [[node(1, COLLECTIVE, comm_type=ALL_REDUCE, comm_size=100)]] * 9)
    (tmp_path / "bad.json").write_text('{"1": [0, 9]}')
    for rank in set(range(9)) - set(ranks):
        (tmp_path / f"step.{rank}.et").unlink()
    scenario(tmp_path, "step.{rank}.et", more)
    out = tmp_path / "results"
    outcome = CliRunner().invoke(app, ["run", str(tmp_path / "scenario.toml"), "-o", str(out)])
    assert outcome.exit_code != 0 and message in " ".join(outcome.output.split())
    assert not out.exists()


def test_a_trace_of_many_nodes_is_read_in_seconds(tmp_path):
    nodes = [node(at, COMPUTE, [at - 1] if at else [], 3) for at in range(50_000)]
    last = node(50_000, COLLECTIVE, [49_999], comm_type=ALL_REDUCE, comm_size=100)
    chakra.write(tmp_path, [[*nodes, last]] * 2)
    begin = time.process_time()
    assert scenario(tmp_path, "step.{rank}.et", "ranks = 2").check() is not None
    assert time.process_time() - begin < 20
