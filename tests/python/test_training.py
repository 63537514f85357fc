"""Training of large language models: a step on an idle fabric against the closed form of its parts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from weft import quick
from weft.scenario import Scenario

LAYERS, HIDDEN, FFN, TOKENS = 8, 1024, 2048, 256
TENSOR, STAGES, REPLICAS, MICRO_BATCHES = 4, 2, 2, 4
RATE, SCALE_UP_RATE = 400e9, 1_600e9
WIRE = (4096 + 100 + 102 / 4) / 4096
"""Bytes on the wire for each of payload: headers, and an acknowledgement for each 16 384 bytes the other way."""

TRAINING = f"""
[fabric]
kind = "rail-optimised"
pods = 1
servers_per_pod = 4
gpus = 4
spines = 4
rate = "400 Gbps"
delay = "1 us"
scale_up_rate = "1600 Gbps"
scale_up_delay = "250 ns"
queue = "400 kB"
queues = {{ scheduler = "strict-priority", weights = [1, 1] }}
trim = true

[traffic]
connections = "persistent"

[traffic.training]
layers = {LAYERS}
hidden = {HIDDEN}
heads = 8
ffn = {FFN}
sequence = {TOKENS}
tensor = {TENSOR}
pipeline = {STAGES}
data = {REPLICAS}
micro_batches = {MICRO_BATCHES}
flops = 40e12
efficiency = 1
steps = 2

[scheme]
name = "spray"

[transport]
protocol = "uec"
congestion = "fixed"
window = 200
rto = "1 ms"

[run]
duration = "10 ms"
limit = "10 s"
"""


def test_a_step_takes_the_time_of_its_passes_their_messages_and_the_bubble(tmp_path):
    Scenario.from_text(TRAINING).run(tmp_path / "results", jobs=1)
    (found,) = (tmp_path / "results" / "runs").glob("*/summary.json")
    first, second = json.loads(Path(found).read_text())["collectives"]

    parameters = 4 * HIDDEN**2 + 3 * HIDDEN * FFN
    operations = 2 * TOKENS * parameters + 4 * TOKENS**2 * HIDDEN
    forward = LAYERS / STAGES * operations / TENSOR / 40e12
    activations = 8 * TOKENS * HIDDEN * 2
    tensor = 2 * LAYERS / STAGES * activations * 2 * (TENSOR - 1) / TENSOR / SCALE_UP_RATE * WIRE
    # Two passes of each micro-batch, and those of the first one through the other stages.
    passes = (MICRO_BATCHES + STAGES - 1) * (3 * forward + 2 * tensor)
    pipeline = 2 * (STAGES - 1) * activations / TENSOR / RATE * WIRE
    gradients = 8 * LAYERS / STAGES * parameters / TENSOR * 4
    data = 2 * (REPLICAS - 1) / REPLICAS * gradients / RATE * WIRE
    for step in (first, second):
        assert step["completion_ps"] / 1e12 == pytest.approx(passes + pipeline + data, rel=0.02)
        assert step["kind"] == "training" and step["ratio"] >= 1
    assert passes > data > pipeline and forward > tensor / 8, "all parts count"
    assert second["start_ps"] >= first["start_ps"] + first["completion_ps"] - 10_000_000


def test_a_step_of_256_gpus_is_planned_within_seconds_and_its_cost_is_estimated(weft, tmp_path):
    big = TRAINING.replace("servers_per_pod = 4\ngpus = 4", "servers_per_pod = 32\ngpus = 8").split("[traffic]")[0]
    scheme = "[scheme]" + TRAINING.split("[scheme]")[1]
    llama = '[traffic.training]\nmodel = "llama-70b"\ntensor = 8\npipeline = 4\ndata = 8\n'
    file = tmp_path / "llama.toml"
    file.write_text(big + llama + scheme)
    checked = weft("check", file)
    assert checked.exit_code == 0
    text = " ".join((checked.stdout + checked.stderr).split())
    assert "Running it takes about" in text and "memory" in text


def test_a_quick_run_keeps_training_whole():
    assert quick.quick(Scenario.from_text(TRAINING)).changes.endswith("training stays whole")
