"""Inference with separate prefill and decode: requests on an idle fabric against the closed form of their parts."""

from __future__ import annotations

import json

import polars as pl
import pytest

from weft import Results, Scenario
from weft.perfetto import trace

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


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return Scenario.from_text(INFERENCE).run(tmp_path_factory.mktemp("inference") / "results", jobs=1)


def _times() -> tuple[float, float, float, float]:
    """The seconds of a prefill, of the all-reduces of a token, of keys and values, and of reading the parameters."""
    width = HIDDEN // HEADS
    parameters = 2 * HIDDEN * width * (HEADS + KV_HEADS) + 3 * HIDDEN * FFN
    prefill = LAYERS * (2 * PROMPT * parameters + 4 * PROMPT**2 * HIDDEN) / TENSOR / 100e12
    ring = 8 * 2 * LAYERS * HIDDEN * 2 * 2 * (TENSOR - 1) / TENSOR / RATE * WIRE
    of_token = 2 * LAYERS * KV_HEADS * width * 2
    kv = 8 * PROMPT * of_token / TENSOR / RATE * WIRE
    read = OUTPUT * (2 * LAYERS * parameters + (PROMPT + (OUTPUT - 1) / 2) * of_token) / TENSOR / 10e12
    return prefill, ring, kv, read


def test_a_request_takes_its_prefill_the_transfer_of_keys_and_values_and_its_answer(results):
    (run,) = results.finished
    entries = json.loads((run.path / "summary.json").read_text())["collectives"]
    prefill, ring, kv, read = _times()
    expected = prefill + (PROMPT + OUTPUT) * ring + kv + read
    assert len(entries) == 8 and {entry["kind"] for entry in entries} == {"inference"}
    for entry in entries:
        # Four delays to another rack, and a few to the other rank.
        assert entry["completion_ps"] / 1e12 == pytest.approx(expected + 20e-6, rel=0.02)
        assert entry["ratio"] >= 1
    assert min(prefill, kv, read) > expected / 30, "all parts count"
    starts = [entry["start_ps"] for entry in entries]
    assert starts == sorted(starts) and starts[-1] / 1e12 == pytest.approx(0.08, rel=0.9)


def test_the_time_of_a_request_is_divided_among_computations_and_messages(results):
    prefill, _, _, read = _times()
    steps, ranks = results.steps(), results.rank_times()
    assert steps["path_compute_ps"].to_numpy() / 1e12 == pytest.approx(prefill + read, rel=1e-6)
    assert steps["path_delay_ps"].to_list() == [0] * 8, "no computation is a delay"
    parts = [name for name in steps.columns if name.startswith("path_")]
    assert (steps.select(pl.sum_horizontal(parts)).to_series() == steps["completion_ps"]).all()
    # Two ranks compute the prompt, two the answer; all communicate, and wait for the others in the rest of the time.
    assert len(ranks) == 8 * 2 * TENSOR
    time = ranks.group_by("job", maintain_order=True).agg(pl.col("compute_ps").sort(), pl.col("exposed_ps").min())
    for compute in time["compute_ps"]:
        assert [one / 1e12 for one in compute] == pytest.approx(sorted([prefill, prefill, read, read]), rel=1e-6)
    assert time["exposed_ps"].min() > 0


def test_answers_are_generated_at_the_same_time_and_processors_share_lanes_if_they_do_not_overlap(results, tmp_path):
    text = INFERENCE.replace("decode = 2", "decode = 1").replace("prefill = 2", "prefill = 3")
    crowded = Scenario.from_text(text.replace("second = 100", "second = 100_000")).run(tmp_path / "results", jobs=1)
    answers = crowded.work().filter(pl.col("host") == "h6").sort("start_ps")
    assert len(answers) == 8 and answers["processor"].n_unique() == 8
    assert (answers["start_ps"] == answers["ready_ps"]).all(), "none waits for another"
    assert (answers["end_ps"] - answers["start_ps"]).unique().to_numpy() / 1e12 == pytest.approx(
        [_times()[3]], rel=1e-6
    )
    together = int((answers["start_ps"][1:] < answers["end_ps"][:-1]).sum())
    assert together > 0
    assert _lanes(crowded, "h6") > 1 and _lanes(crowded, "h0") == 1
    # Half of the answers each, at different times.
    assert results.work().filter(pl.col("host") == "h4")["processor"].n_unique() == 4 and _lanes(results, "h4") == 1


def _lanes(results: Results, host: str) -> int:
    """The lanes of a host's steps in the trace for Perfetto, which do not overlap within a lane."""
    events = json.loads(trace(results, results.finished[0]))["traceEvents"]
    (pid,) = (one["pid"] for one in events if one["name"] == "process_name" and one["args"]["name"] == host)
    steps = [one for one in events if one["pid"] == pid and one["ph"] == "X" and "step" in one["args"]]
    for one in steps:
        of_lane = [other for other in steps if other is not one and other["tid"] == one["tid"]]
        assert all(
            one["ts"] + one["dur"] <= other["ts"] or other["ts"] + other["dur"] <= one["ts"] for other in of_lane
        )
    return len({one["tid"] for one in steps})
