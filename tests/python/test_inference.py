"""Inference with separate prefill and decode: requests on an idle fabric against the closed form of their parts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from weft.scenario import Scenario

LAYERS, HIDDEN, HEADS, KV_HEADS, FFN = 4, 1024, 16, 4, 2048
TENSOR, PROMPT, OUTPUT = 2, 512, 16
RATE = 400e9
WIRE = (4096 + 100 + 102 / 4) / 4096
"""Bytes on the wire for each of payload: headers, and an acknowledgement for each 16 384 bytes the other way."""

INFERENCE = f"""
[fabric]
kind = "spine-leaf"
spines = 4
leaves = 4
hosts_per_leaf = 2
rate = "400 Gbps"
delay = "1 us"
queue = "400 kB"
queues = {{ scheduler = "strict-priority", weights = [1, 1] }}
trim = true

[traffic.inference]
layers = {LAYERS}
hidden = {HIDDEN}
heads = {HEADS}
kv_heads = {KV_HEADS}
ffn = {FFN}
tensor = {TENSOR}
prefill = 2
decode = 2
requests = 8
requests_per_second = 100
prompt = {PROMPT}
output = {OUTPUT}
flops = 100e12
efficiency = 1
memory_rate = 10e12

[scheme]
name = "spray"

[transport]
protocol = "uec"
congestion = "fixed"
window = 200
rto = "1 ms"

[run]
duration = "1 s"
"""


def test_a_request_takes_its_prefill_the_transfer_of_keys_and_values_and_its_answer(tmp_path):
    Scenario.from_text(INFERENCE).run(tmp_path / "results", jobs=1)
    (found,) = (tmp_path / "results" / "runs").glob("*/summary.json")
    entries = json.loads(Path(found).read_text())["collectives"]

    width = HIDDEN // HEADS
    parameters = 2 * HIDDEN * width * (HEADS + KV_HEADS) + 3 * HIDDEN * FFN
    prefill = LAYERS * (2 * PROMPT * parameters + 4 * PROMPT**2 * HIDDEN) / TENSOR / 100e12
    ring = 8 * 2 * LAYERS * HIDDEN * 2 * 2 * (TENSOR - 1) / TENSOR / RATE * WIRE
    of_token = 2 * LAYERS * KV_HEADS * width * 2
    kv = 8 * PROMPT * of_token / TENSOR / RATE * WIRE
    read = OUTPUT * (2 * LAYERS * parameters + (PROMPT + (OUTPUT - 1) / 2) * of_token) / TENSOR / 10e12
    expected = prefill + (PROMPT + OUTPUT) * ring + kv + read
    assert len(entries) == 8 and {entry["kind"] for entry in entries} == {"inference"}
    for entry in entries:
        # Four delays to another rack, and a few to the other rank.
        assert entry["completion_ps"] / 1e12 == pytest.approx(expected + 20e-6, rel=0.02)
        assert entry["ratio"] >= 1
    assert min(prefill, kv, read) > expected / 30, "all parts count"
    starts = [entry["start_ps"] for entry in entries]
    assert starts == sorted(starts) and starts[-1] / 1e12 == pytest.approx(0.08, rel=0.9)
