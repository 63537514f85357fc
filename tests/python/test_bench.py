"""The benchmark's numbers, and its ratio to a reference program (here a fake that answers at once)."""

from __future__ import annotations

import csv
import json
import sys
from types import SimpleNamespace

import pytest

from weft import _weft, ns3

STAND_IN = f"""#!{sys.executable}
import json, pathlib, sys
options = dict(a.removeprefix("--").split("=", 1) for a in sys.argv[1:])
flows = pathlib.Path(options["flows"]).read_text().splitlines()
assert options["tcp"] == "cubic" and len(flows) > 1
print(json.dumps({{"packet_hops": 1000, "cpu_seconds": 0.01}}))
"""


@pytest.fixture
def reference(tmp_path, monkeypatch):
    """A reference program that does 100 000 packet-hops a second."""
    program = tmp_path / "reference"
    program.write_text(STAND_IN)
    program.chmod(0o755)
    monkeypatch.setenv("WEFT_NS3_REFERENCE", str(program))
    return program


def measured(monkeypatch, hops_per_second):
    """Has every run beside the reference this speed."""

    def bench(case, seconds, threads):
        row = json.loads(_weft.bench(case, seconds, threads))
        return json.dumps(row | {"packet_hops_per_second": hops_per_second})

    monkeypatch.setattr(ns3, "_weft", SimpleNamespace(bench_export=_weft.bench_export, bench=bench))


def test_a_case_prints_what_is_promised(weft, reference, monkeypatch):
    measured(monkeypatch, 300_000)
    rows = json.loads(weft("bench", "fat-tree-k4-tcp", "--seconds", "0.05", "--json").stdout)
    promised = {"case", "packet_hops", "cpu_seconds", "packet_hops_per_second", "peak_memory_bytes", "ratio_to_ns3"}
    assert promised <= rows[0].keys()
    speed = rows[0]["packet_hops"] / rows[0]["cpu_seconds"]
    assert rows[0]["packet_hops_per_second"] == pytest.approx(speed)
    assert rows[0]["ratio_to_ns3"] == pytest.approx(3)


def test_what_ns3_cannot_run_has_no_ratio(weft, reference):
    rows = json.loads(weft("bench", "fat-tree-k4-dctcp", "--seconds", "0.02", "--json").stdout)
    assert rows[0]["ratio_to_ns3"] is None


def test_a_scheme_that_explores_is_held_against_ecmp(weft, reference):
    rows = json.loads(weft("bench", "spine-leaf-4-4-20-tcp-path", "--seconds", "0.1", "--json").stdout)
    assert rows[0]["ratio_to_ecmp"] > 0
    rows = json.loads(weft("bench", "spine-leaf-4-4-20", "--seconds", "0.02", "--json").stdout)
    assert rows[0]["ratio_to_ecmp"] is None


def test_a_program_that_fails_gives_no_ratio(reference):
    reference.write_text(f"#!{sys.executable}\nraise SystemExit(1)\n")
    assert ns3.ratio(reference, "fat-tree-k4-tcp") is None


def test_flows_are_made_such_that_ns3_can_run_them(tmp_path):
    path = tmp_path / "flows.csv"
    path.write_text(
        "flow,src,dst,bytes,start_ps,sport,dport,class\n"
        "0,h1,h2,4294967296,12345678,10000,80,all\n"
        "1,h3,h2,500,999,10000,80,all\n"
    )
    ns3._adapt(path)
    first, second = csv.DictReader(path.read_text().splitlines())
    assert (first["bytes"], first["start_ps"], second["start_ps"]) == ("1000000000", "12345000", "0")
    assert first["dport"] != second["dport"]


def test_an_unknown_case_is_refused_with_those_there_are(weft):
    unknown = weft("bench", "nope")
    assert (unknown.exit_code, "fat-tree-k4-tcp" in unknown.stderr) == (2, True)
