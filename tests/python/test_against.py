"""The comparison with htsim: matrices, what its programs print, agreement, and the measured process."""

from __future__ import annotations

import re
import sys

import pytest

from weft.against import matrix, output, process, theirs
from weft.against.cases import CASES, MATRIX
from weft.against.comparison import runs
from weft.against.errors import PeerError
from weft.against.excerpt import last_lines
from weft.against.outcome import Agreement, Outcome, mean
from weft.scenario import Scenario

PAIR = re.compile(r"(\d+)->(\d+) id (\d+) ")


def pairs(made):
    return [tuple(map(int, PAIR.match(line).groups()[:2])) for line in made.flows]


def test_the_time_limit_of_htsim_grows_with_the_packets_of_the_matrix():
    # 100 flows of 10 packets.
    made = matrix.permutation(100, 40_860)
    assert made.bytes == 4_086_000
    assert theirs.limit(made) == pytest.approx(601)
    longest = {name: theirs.limit(case.matrix()) for name, case in CASES.items()}
    # docs/speed.md: 218 s and 52 s of CPU time.
    assert 10 * 218 < longest["uec-permutation-8192"] < 2 * 3600
    assert 10 * 52 < longest["uec-ring-128"] < 2 * 3600


def test_a_limit_below_a_second_is_named_with_its_fraction(tmp_path, monkeypatch):
    def hangs(*_):
        raise TimeoutError

    monkeypatch.setattr(theirs, "measured", hangs)
    case, program = CASES["roce-dcqcn-1024"], tmp_path / "htsim_roce"
    with pytest.raises(PeerError, match=re.escape("still running after 0.5 s")) as found:
        theirs.run(case, 1, program, matrix.permutation(4, 10), tmp_path, seconds=0.5, silent=False)
    assert str(found.value.hint).startswith("--timeout 1,")


def test_a_permutation_has_one_flow_from_and_to_each_host():
    found = pairs(matrix.permutation(50, 10))
    assert sorted(source for source, _ in found) == sorted(target for _, target in found) == list(range(50))
    assert all(source != target for source, target in found)
    assert found == pairs(matrix.permutation(50, 10))


def test_matrices_have_the_pairs_of_their_names():
    assert pairs(matrix.incast(4, 10)) == [(1, 0), (2, 0), (3, 0)]
    assert pairs(matrix.rack_incasts(6, 3, 10)) == [(1, 0), (2, 0), (4, 3), (5, 3)]
    assert sorted(pairs(matrix.all_to_all(3, 10))) == [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)]


def test_a_ring_passes_each_part_on_when_the_step_before_is_acknowledged():
    assert matrix.ring_all_reduce(2, 10).text == (
        "Nodes 2\nConnections 4\nTriggers 2\n"
        "0->1 id 1 start 0 size 10 send_done_trigger 1\n"
        "1->0 id 2 trigger 1 size 10\n"
        "1->0 id 3 start 0 size 10 send_done_trigger 3\n"
        "0->1 id 4 trigger 3 size 10\n"
        "trigger id 1 oneshot\ntrigger id 3 oneshot\n"
    )


def test_weft_runs_the_matrix_of_a_ring_with_the_parameters_of_a_case(tmp_path):
    made = matrix.ring_all_reduce(16, 8_000)
    (tmp_path / MATRIX).write_text(made.text)
    (tmp_path / "ring.toml").write_text(CASES["uec-ring-128"].scenario(seed=3).replace("k = 8", "k = 4"))
    results = Scenario.from_file(tmp_path / "ring.toml").run(tmp_path / "results", jobs=1)
    flows = results.scan_flows(measured=False).collect().sort("flow")
    assert flows.height == len(made.flows) == 16 * 30
    assert flows["end_ps"].null_count() == 0
    # The second step of a part begins after the first has ended.
    assert flows["start_ps"][1] > flows["end_ps"][0]


def test_every_case_is_a_scenario_that_weft_accepts_without_warnings(tmp_path):
    for case in CASES.values():
        made = case.matrix()
        assert case.k**3 // 4 == made.hosts
        small = matrix.Matrix(made.hosts, made.flows[:1])
        (tmp_path / MATRIX).write_text(small.text.replace(" send_done_trigger 1", ""))
        (tmp_path / "case.toml").write_text(case.scenario(seed=1))
        points, warnings = Scenario.from_file(tmp_path / "case.toml").check()
        assert (len(points), warnings) == (1, []), case.name


UEC = """\
Flow Uec_1_0 flowId 1 uecSrc 0 starting at 0
Flow Uec_1_0 flowId 1 uecSrc 0 finished at 176.2 total messages 1 total packets 490 RTS 0 total bytes 2002140
Flow Uec_2_0 flowId 2 uecSrc 1 finished at 1.5e+03 total messages 1 total packets 490 RTS 0 total bytes 2002140
.Done
New: 980 Rtx: 7 RTS: 0 Bounced: 0 ACKs: 250 NACKs: 7 Pulls: 0 sleek_pkts: 0
"""

ROCE = """\
startflow Roce_0_8 at 0
Adding 1 to sent bytes 0 1
Flow Roce_0_8 396 finished at 46.1683 total bytes 100
Flow Roce_1_8 401 finished at 45 total bytes 50
Done
New: 0 Rtx: 3
"""


def test_totals_and_the_last_completion_are_read_from_both_programs():
    assert output.read(UEC.splitlines(), "htsim_uec") == Outcome(987, 7, 1500.0, 2)
    assert output.read(ROCE.splitlines(), "htsim_roce") == Outcome(153, 3, 46.1683, 2)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no line `New: … Rtx: …`"),
        (UEC.replace("New: 980 Rtx: 7", "New: many"), "no line `New: … Rtx: …`"),
        (UEC.replace("176.2", "soon"), "not a time: `soon` in `Flow Uec_1_0"),
        *(
            (UEC.replace("176.2", odd), f"not a time: `{odd}` in `Flow Uec_1_0")
            for odd in ("0", "-3", "nan", "inf", "1e400")
        ),
        (UEC.replace("finished", "ended"), "finished no flow"),
        (UEC.replace("New: 980", "New: 0"), "finished no flow"),
    ],
)
def test_other_text_is_refused_with_its_reason(text, said):
    with pytest.raises(PeerError, match=re.escape(said)):
        output.read(text.splitlines(), "htsim_uec")


@pytest.mark.parametrize(
    ("ours", "reasons"),
    [
        (Outcome(1029, 0, 97.1, 8), []),
        (Outcome(1031, 0, 100.0, 8), ["packets differ by +3.1 %"]),
        (Outcome(1000, 0, 96.0, 8), ["the last completion differs by −4.0 %"]),
        (Outcome(1000, 0, 100.0, 7), ["Weft finished 7 of 8 flows"]),
    ],
)
def test_runs_agree_within_three_per_cent_if_all_flows_finish(ours, reasons):
    found = Agreement(8, ours, Outcome(1000, 40, 100.0, 8))
    assert (found.holds, found.reasons) == (not reasons, reasons)


def test_runs_with_several_seeds_are_compared_by_their_means():
    assert mean([Outcome(10, 1, 5.0, 4), Outcome(20, 2, 6.0, 3)]) == Outcome(15, 1.5, 5.5, 3)


def test_a_measured_command_has_its_own_time_and_memory(tmp_path):
    held = bytearray(60_000_000)
    small = "import time; end = time.process_time() + 0.05\nwhile time.process_time() < end: pass"
    with (tmp_path / "output").open("wb") as file:
        done = process.measured([sys.executable, "-ISc", small], tmp_path / "usage.json", file)
    assert done.code == 0
    assert done.usage.cpu_seconds >= 0.05
    # Less than this process holds: the measured one does not inherit its peak.
    assert done.usage.peak_memory_bytes < len(held)


def test_a_measured_command_passes_on_its_directory_output_and_exit_code(tmp_path):
    command = [sys.executable, "-ISc", "import os; print(os.getcwd(), flush=True); os.abort()"]
    with (tmp_path / "output").open("wb") as file:
        done = process.measured(command, tmp_path / "usage.json", file, tmp_path)
    assert done.code == 128 + 6
    assert last_lines(tmp_path / "output") == f"\n    {tmp_path}"


def test_silenced_programs_run_once_more_in_each_round():
    assert runs(CASES["uec-incast-1024"], 5) == 10
    assert runs(CASES["roce-dcqcn-1024"], 5) == 15
