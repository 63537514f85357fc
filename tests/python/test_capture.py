"""Captures of simulated runs, read back by tshark."""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from waiting import PATIENCE_S
from weft.cli import app

LUA = Path(__file__).parents[2] / "tools" / "wireshark" / "weft.lua"
SCENARIO = """
scheme.name = "ecmp"

[fabric]
kind = "spine-leaf"
spines = 2
leaves = 2
hosts_per_leaf = 4
rate = "1 Gbps"
queue = "20 packets"

[traffic]
sizes = "web-search"
load = 0.8
clamp = "1 MB"
flows = 12

[run]
duration = "1 s"
limit = "10 s"
"""
FLOWS = [0, 2, 3]
needs_tshark = pytest.mark.skipif(shutil.which("tshark") is None, reason="needs tshark")


def run(*arguments: object):
    """The outcome of `weft run`."""
    return CliRunner().invoke(app, ["run", *map(str, arguments)])


def tshark(file: Path, *fields: str, where: str = "") -> list[list[str]]:
    """The fields of each frame of a capture that matches `where`."""
    options = ["-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE", "-X", f"lua_script:{LUA}"]
    wanted = [word for field in fields for word in ("-e", field)]
    command = ["tshark", "-n", *options, "-r", str(file), "-T", "fields", "-E", "separator=/t", *wanted]
    done = subprocess.run(
        [*command, *(["-Y", where] if where else [])], capture_output=True, text=True, timeout=PATIENCE_S
    )
    assert done.returncode == 0, done.stderr
    return [line.split("\t") for line in done.stdout.splitlines()]


WRONG = "_ws.malformed || _ws.expert.group == 0x01000000 || weft.hello.refused || weft.path.refused || weft.tag.refused"


@pytest.fixture(scope="module")
def scenario(tmp_path_factory) -> Path:
    """A scenario with losses."""
    path = tmp_path_factory.mktemp("capture") / "lossy.toml"
    path.write_text(SCENARIO)
    return path


@pytest.fixture(scope="module")
def results(scenario) -> Path:
    """Its results, without captures."""
    out = scenario.parent / "plain"
    done = run(scenario, "-o", out, "-q")
    assert done.exit_code == 0, done.output
    return out


@pytest.fixture(scope="module")
def captured(scenario) -> Path:
    """Its results, with captures of a link and of some flows."""
    out = scenario.parent / "captured"
    followed = [word for flow in FLOWS for word in ("--capture", f"flow:{flow}")]
    done = run(scenario, "-o", out, "--capture", "l0-s0", *followed)
    assert done.exit_code == 0, done.output
    assert "7 captures with" in done.output
    return out


@pytest.fixture(scope="module")
def flows(captured) -> pl.DataFrame:
    """The flows that are captured."""
    table = pl.read_parquet(next((captured / "runs").iterdir()) / "flows.parquet")
    return table.filter(pl.col("flow").is_in(FLOWS))


def files_of(folder: Path) -> dict[str, bytes]:
    """The files below a directory by name."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def captures_of(out: Path) -> Path:
    """The captures of the only run."""
    (folder,) = (out / "captures").iterdir()
    return folder


def test_a_capture_changes_no_byte_of_the_results(results, captured):
    assert files_of(captured / "runs") == files_of(results / "runs")


def test_threads_change_no_byte_of_a_capture_and_runs_with_results_are_only_captured(scenario, results, captured):
    before = files_of(results / "runs")
    for threads in (1, 2, 4):
        place = scenario.parent / f"threads-{threads}"
        capture = ["--capture", "l0-s0", "--capture", "flow:3", "--capture-dir", place]
        done = run(scenario, "-o", results, "--threads", threads, *capture)
        assert done.exit_code == 0, done.output
        assert "1 run had results and ran again for the captures; the results are unchanged." in done.output
        assert ("ran on one thread: captures and traces are written in order" in done.output) == (threads > 1)
        wanted = files_of(captures_of(captured))
        found = files_of(place)
        assert sorted(Path(name).name for name in found) == ["flow-3-hops.pcapng", "flow-3.pcapng", "link-l0-s0.pcapng"]
        assert all(content == wanted[Path(name).name] for name, content in found.items())
    done = run(scenario, "-o", results, *capture)
    assert done.exit_code == 0 and "3 captures existed and are kept" in done.output, done.output
    assert files_of(results / "runs") == before


@needs_tshark
def test_tshark_reads_every_frame_without_a_complaint(captured):
    for file in captures_of(captured).iterdir():
        assert file.stat().st_size > 1_000, file
        assert tshark(file, "frame.number", where=f"{WRONG} || !(ip.checksum.status == 1)") == [], file


@needs_tshark
def test_at_the_source_tshark_counts_the_segments_and_retransmissions_of_the_flow(captured, flows):
    assert flows["retransmissions"].sum() > 0
    for flow in flows.iter_rows(named=True):
        file = captures_of(captured) / f"flow-{flow['flow']}.pcapng"
        again = "tcp.analysis.retransmission", "tcp.analysis.fast_retransmission"
        rows = tshark(file, "tcp.stream", "tcp.dstport", "tcp.len", "tcp.seq_raw", *again)
        assert {row[0] for row in rows} == {"0"}
        data = [row for row in rows if row[1] == str(flow["dport"]) and int(row[2]) > 0]
        assert len(data) == flow["packets_sent"]
        repeated = sum(count - 1 for count in Counter(row[3] for row in data).values())
        assert repeated <= flow["retransmissions"]
        assert any("1" in row[4:] for row in data) == (flow["retransmissions"] > 0)


@needs_tshark
def test_drops_are_comments_and_every_hop_has_its_interface(captured, flows):
    assert flows["drops"].sum() > 0
    for flow in flows.iter_rows(named=True):
        file = captures_of(captured) / f"flow-{flow['flow']}-hops.pcapng"
        rows = tshark(file, "frame.comment", "frame.interface_name", "tcp.len")
        dropped = [row[0] for row in rows if row[0] and int(row[2]) > 0]
        assert dropped == ["dropped: queue_full"] * flow["drops"]
        path = [flow["src"], *flow["path"].split(), flow["dst"]]
        assert {f"{a}->{b}" for a, b in pairwise(path)} <= {row[1] for row in rows}


@needs_tshark
def test_the_delay_of_a_flow_includes_the_way_between_its_switches(captured, flows):
    for flow in flows.iter_rows(named=True):
        file = captures_of(captured) / f"flow-{flow['flow']}-hops.pcapng"
        where = f"tcp.dstport == {flow['dport']}"
        rows = tshark(file, "frame.interface_name", "frame.time_epoch", "tcp.seq_raw", "tcp.ack_raw", where=where)
        last = [row for row in rows if row[0].endswith(f"->{flow['dst']}")]
        first = [row for row in rows if row[0].startswith(f"{flow['src']}->")]
        arrived = {(seq, ack): float(time) for _, time, seq, ack in last}
        # From the first switch to the destination: less than the whole delay.
        ways = [arrived[seq, ack] - float(time) for _, time, seq, ack in first if (seq, ack) in arrived]
        assert len(ways) > 1 and min(ways) > 0
        assert min(ways) * 1e12 < flow["delay_ps"] < 10**12 and flow["jitter_ps"] >= 0


@needs_tshark
@pytest.mark.parametrize(
    ("sets", "shown"),
    [
        (['scheme.name="tcp_path"'], ["weft.path.type=1", "weft.path.type=2", "weft.hello", "arp"]),
        (['scheme.name="arp_path"'], ["arp.opcode=1", "arp.opcode=2", "weft.hello"]),
        (
            ['scheme.name="smoc"', 'transport.mptcp="ndiffports"'],
            ["tcp.options.mptcp.subtype=0", "tcp.options.mptcp.subtype=2"],
        ),
        (['transport.mptcp="ndiffports"', "transport.mptcp_version=0"], ["tcp.options.mptcp.version=0"]),
        (['scheme.name="hula"'], ["eth.type=0x88b5"]),
    ],
)
def test_frames_of_the_schemes_are_shown(sets, shown, scenario, tmp_path):
    changes = [word for change in sets for word in ("--set", change)]
    done = run(scenario, "-o", tmp_path / "out", "-q", *changes, "--capture", "l0-s0", "--capture", "flow:0")
    assert done.exit_code == 0, done.output
    files = list(captures_of(tmp_path / "out").iterdir())
    fields = list(dict.fromkeys(one.partition("=")[0] for one in shown))
    every = tmp_path / "every.pcapng"
    subprocess.run(["mergecap", "-w", every, *files], check=True)
    seen = set()
    for row in tshark(every, *fields):
        for field, cell in zip(fields, row, strict=True):
            seen |= {field, *(f"{field}={value}" for value in cell.split(","))} if cell else set()
    assert set(shown) <= seen
    for file in files:
        assert tshark(file, "frame.number", "_ws.expert.message", where=WRONG) == [], file


@needs_tshark
def test_tags_are_shown_between_switches_and_nowhere_else(scenario, tmp_path):
    fabric = ['fabric={kind="fat-tree",k=4,rate="1 Gbps"}', 'scheme.name="tag_forward"']
    changes = [word for change in fabric for word in ("--set", change)]
    done = run(scenario, "-o", tmp_path / "out", "-q", *changes, "--capture", "flow:0")
    assert done.exit_code == 0, done.output
    file = captures_of(tmp_path / "out") / "flow-0-hops.pcapng"
    assert tshark(file, "frame.number", "_ws.expert.message", where=WRONG) == []
    rows = tshark(file, "frame.interface_name", "weft.tag", "tcp")
    tagged = {name for name, tag, tcp in rows if tag and tcp}
    plain = {name for name, tag, _ in rows if not tag}
    assert tagged and not any("h" in name for name in tagged)
    assert plain and all("h" in name for name in plain)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--capture", "l0->s9"], "there is no node `s9`"),
        (["--capture", "a0->e0"], "there is no node `a0`"),
        (["--capture", "l0->l1"], "there is no link between `l0` and `l1`: `l0` has links to h0, h1, h2, h3, s0, s1"),
        (["--capture", "lo-s0"], "did you mean `l0`?"),
        (["--capture", "s0"], "`s0` does not name a link"),
        (["--capture", "flow:12"], "there is no flow 12: flows are numbered 0 to 11"),
        (["--capture", "flow:x"], "`flow:x` does not name a flow"),
        (["--capture", "flow:1", "--capture-limit", "many"], "--capture-limit: `many` is not"),
        (["--capture-dir", "elsewhere"], "nothing to capture"),
    ],
)
def test_what_cannot_be_captured_is_said_and_nothing_is_written(arguments, message, scenario, tmp_path):
    done = run(scenario, "-o", tmp_path / "out", *arguments)
    assert done.exit_code != 0
    assert message in " ".join(done.output.split()), done.output
    assert list(tmp_path.iterdir()) == []


def test_a_file_ends_at_its_limit_and_another_limit_does_not_pass_for_the_same_capture(scenario, tmp_path):
    command = [scenario, "-o", tmp_path / "out", "--capture", "l0-s0", "--capture-limit"]
    done = run(*command, "20 kB")
    assert done.exit_code == 0, done.output
    output = " ".join(done.output.split())
    assert "link-l0-s0.pcapng reached --capture-limit at" in output and "later frames left out" in output
    file = captures_of(tmp_path / "out") / "link-l0-s0.pcapng"
    assert 20_000 <= file.stat().st_size < 21_000
    done = run(*command, "30 kB")
    assert done.exit_code != 0
    assert "holds another capture" in " ".join(done.output.split())


def test_delay_and_jitter_are_those_calculated_by_hand(tmp_path):
    """A flow of 10 B over four links of 1 Gbps and 1 us: 8 ns for each byte on the wire."""
    lone = SCENARIO.split("[traffic]")[0] + '[traffic]\nflow_list = [{ src = "h1", dst = "h6", bytes = "10 B" }]\n'
    (tmp_path / "lone.toml").write_text(lone.replace('rate = "1 Gbps"', 'rate = "1 Gbps"\ndelay = "1 us"'))
    done = run(tmp_path / "lone.toml", "-o", tmp_path / "out", "-q")
    assert done.exit_code == 0, done.output
    flow = pl.read_parquet(next((tmp_path / "out" / "runs").iterdir()) / "flows.parquet").row(0, named=True)
    syn, ack, data = (4 * (size * 8 + 1000) for size in (98, 90, 100))
    # The data, with the FIN, waits at the source behind the ACK; the other side's FIN is acknowledged last.
    delays = [syn, ack, data + 90 * 8, ack]
    assert flow["delay_ps"] == sum(delays) * 1000 / 4
    assert flow["jitter_ps"] == round(sum(abs(a - b) for a, b in pairwise(delays)) * 1000 / 3)
