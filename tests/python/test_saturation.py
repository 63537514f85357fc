"""Studies of emulations on a saturated machine: which runs are compared with the simulation."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import sample
from weft.results import Results
from weft.studies.outcome import Verdict
from weft.studies.packet_spraying.emulated import PacketSprayingEmulated
from weft.studies.tcp_path.emulated import TcpPathEmulated

SCHEMES = ["single_path", "spray"]


def results(directory: Path, factor: float, saturated: set[int], seeds: int = 3) -> Results:
    """Runs whose flows take `factor` times the sample's, on a machine that is saturated for some seeds."""
    sample.write_results(directory, {"scheme.name": SCHEMES}, seeds=seeds, flows=120, samples=4)
    part = Results(directory)
    for run in part.finished:
        flows = pl.read_parquet(run.path / "flows.parquet")
        slower = (pl.col("fct_ps").cast(pl.Float64) * factor).round().cast(pl.Int64)
        classes = {"mouse": "short", "rabbit": "rabbit", "elephant": "long"}
        kinds = pl.col("class").cast(pl.String).replace(classes if "spraying" in directory.parts else {})
        flows = flows.with_columns(slower, kinds.cast(pl.Categorical))
        flows.write_parquet(run.path / "flows.parquet")
        summary = json.loads((run.path / "summary.json").read_text())
        summary["emulated"] = {"processors": {"saturated": run.seed in saturated}, "classes": {}}
        (run.path / "summary.json").write_text(json.dumps(summary))
    return Results(directory)


def agreement(tmp_path: Path, factor: float, saturated: set[int]):
    found = {"simulated": results(tmp_path / "s", 1.0, set()), "emulated": results(tmp_path / "e", factor, saturated)}
    outcome = TcpPathEmulated().judge(found)
    return {row.id: row for row in outcome.rows}, outcome.remarks


@pytest.mark.parametrize(
    ("factor", "saturated", "verdict", "note"),
    [
        (1.0, set(), Verdict.held, ""),
        (1.5, set(), Verdict.did_not_hold, ""),
        (1.5, {1, 2, 3}, Verdict.not_measured, "the machine was saturated in 6 of 6 runs; "),
        (1.5, {1}, Verdict.did_not_hold, "the machine was saturated in 2 of 6 runs, which are left out"),
        (1.0, {1, 2, 3}, Verdict.held, "though the machine was saturated in 6 of 6 runs"),
    ],
)
def test_emulation_that_differs_on_a_saturated_machine_is_not_measured(tmp_path, factor, saturated, verdict, note):
    rows, remarks = agreement(tmp_path, factor, saturated)
    assert rows["T9"].verdict is verdict
    assert note in rows["T9"].note
    assert rows["T9"].measured is not None
    said = [remark for remark in remarks if remark.startswith("the machine was saturated")]
    assert said == ([f"the machine was saturated in {2 * len(saturated)} of 6 runs"] if saturated else [])


def test_a_claim_about_all_schemes_is_not_held_against_those_that_had_the_machine(tmp_path):
    simulated, emulated = results(tmp_path / "s", 1.0, set(), 1), results(tmp_path / "e", 1.5, set(), 1)
    first = emulated.finished[0].path / "summary.json"
    summary = json.loads(first.read_text())
    summary["emulated"]["processors"]["saturated"] = True
    first.write_text(json.dumps(summary))
    outcome = TcpPathEmulated().judge({"simulated": simulated, "emulated": Results(tmp_path / "e")})
    assert outcome.rows[0].verdict is Verdict.not_measured
    assert outcome.rows[0].note.startswith("the machine was saturated in 1 of 2 runs; ")


def test_spraying_on_a_saturated_machine_is_compared_by_whole_seeds(tmp_path):
    parts = {name: results(tmp_path / "spraying" / name, 1.0, set()) for name in ("paper-tcp", "simulated")}
    for saturated, agrees in (({1}, Verdict.did_not_hold), ({1, 2, 3}, Verdict.not_measured)):
        emulated = results(tmp_path / "spraying" / f"emulated{len(saturated)}", 1.5, saturated)
        rows = {row.id: row for row in PacketSprayingEmulated().judge({**parts, "emulated": emulated}).rows}
        assert list(rows) == [f"{kind}-{name}" for kind in "SL" for name in ("paper-tcp", "simulated", "emulated")] + [
            "E"
        ]
        assert rows["E"].verdict is agrees
        assert f"the machine was saturated in {2 * len(saturated)} of 6 runs" in rows["E"].note
        assert "saturated" not in rows["S-simulated"].note
