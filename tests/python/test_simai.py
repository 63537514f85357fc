"""SimAI's files: a workload on a topology, against the closed form of its parts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from weft.scenario import Scenario

TOPOLOGY = Path(__file__).parents[2] / "crates" / "fabric" / "tests" / "data" / "simai_rails"
BYTES = 8_000_000
WORKLOAD = f"""HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 1 pp: 1 ga: 1 all_gpus: 4 pp_comm: 0
2
attention\t-1\t100000\tALLREDUCE\t{BYTES}\t20000\tALLREDUCE\t{BYTES}\t50000\tNONE\t0\t100
mlp\t-1\t300000\tALLGATHER\t{BYTES}\t1\tNONE\t0\t1\tALLREDUCE\t{BYTES}\t100
"""
SCENARIO = """
[fabric]
file = "rails_4g_2gps_400Gbps_H100"
queue = "400 kB"
queues = { scheduler = "strict-priority", weights = [1, 1] }
trim = true

[traffic]
trace = "workload.txt"

[scheme]
name = "spray"

[transport]
protocol = "uec"
congestion = "fixed"
window = 200
rto = "1 ms"

[run]
duration = "10 ms"
"""
SCALE_UP, RATE = 2880e9, 400e9
WIRE = (4096 + 100 + 102 / 4) / 4096
"""Bytes on the wire for each of payload: headers, and an acknowledgement for each 16 384 bytes the other way."""


def test_a_workload_takes_its_computations_and_collectives_on_a_topology_of_simai(tmp_path, weft):
    (tmp_path / "rails_4g_2gps_400Gbps_H100").write_bytes(TOPOLOGY.read_bytes())
    (tmp_path / "workload.txt").write_text(WORKLOAD)
    scenario = tmp_path / "simai.toml"
    scenario.write_text(SCENARIO)
    assert weft("check", scenario).exit_code == 0
    Scenario.from_file(scenario).run(tmp_path / "results", jobs=1)
    (found,) = (tmp_path / "results" / "runs").glob("*/summary.json")
    (entry,) = json.loads(found.read_text())["collectives"]
    # The first 100 us are a computation. Both tensor ranks send half of the bytes, twice in an all-reduce.
    reduce, gather = (8 * BYTES * share / SCALE_UP * WIRE for share in (1, 0.5))
    weights = 8 * BYTES / RATE * WIRE
    # The gradients of the second layer's weights are exchanged beside all of the first layer, and take longer.
    assert weights > 20e-6 + reduce
    assert entry["completion_ps"] / 1e12 == pytest.approx(100e-6 + reduce + 300e-6 + gather + weights, rel=0.02)
    assert (entry["kind"], entry["ranks"], entry["flows"]) == ("trace", 4, 2 * 4 + 2 * 4 + 2 * 2 + 2 * 4)
