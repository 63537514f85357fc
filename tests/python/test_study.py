"""The study's decision rules on data that fits them, breaks them, or leaves them undecided."""

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np
import polars as pl
import pytest

import weft
from weft.studies.load_balancing import LoadBalancing
from weft.studies.outcome import Outcome, Size, Verdict, as_dict
from weft.studies.packet_spraying import PacketSpraying, claims, figures, scenarios
from weft.studies.packet_spraying.table import SCHEMA
from weft.studies.registry import ALL

FAIR = 1e9 * scenarios.SEGMENT / scenarios.PACKET_ON_WIRE


def world(seeds=10, transports=scenarios.TRANSPORTS, **changes):
    """Data in which every claim holds, unless `changes` breaks it."""
    effect = {
        "static_gain": 1.05,  # spraying's static long-flow throughput over single path's
        "share": 0.9,  # single path's fraction of the fair share
        "fct_gain": 0.9,  # spraying's static short FCT over single path's, with one long flow
        "fct_growth": 0.05,  # its decrease with each additional one
        "disorder": 0.12,
        "disorder_growth": 0.0,
        "random_gain": 1.3,
        "random_fct": 0.7,
        "random_disorder": 0.2,
        "more_short_throughput": 0.95,
        "more_short_fct": 1.2,
        "noise": 0.01,
    } | changes
    rows = []
    for transport in transports:
        for seed in range(1, seeds + 1):
            rng = np.random.default_rng([seed, len(transport)])

            def noisy(value, rng=rng):
                return value * (1 + effect["noise"] * rng.standard_normal())

            for long in range(6):
                fct = 3e-3 * (1 + 0.5 * long)
                for scheme in scenarios.SCHEMES:
                    spray = scheme == "spray"
                    throughput = FAIR / long * effect["share"] if long else None
                    if throughput is not None and spray:
                        throughput *= effect["static_gain"]
                    gain = effect["fct_gain"] - effect["fct_growth"] * (long - 1) if spray and long else 1.0
                    disorder = effect["disorder"] + effect["disorder_growth"] * long if spray and long > 1 else 0.0
                    rows.append(
                        {
                            "kind": "static",
                            "short": 1,
                            "long": long,
                            "transport": transport,
                            "scheme": scheme,
                            "seed": seed,
                            "long_throughput_bps": None if throughput is None else noisy(throughput),
                            "short_fct_s": noisy(fct * gain),
                            "out_of_order_share": noisy(disorder),
                            "short_retransmissions": 1.5 if spray else 0.0,
                            "short_drops": 0.0,
                            "unfinished": 0.0,
                        }
                    )
                    for short in (10, 20):
                        more = short == 20
                        among = 4e8 * (effect["random_gain"] if spray else 1)
                        among *= effect["more_short_throughput"] if more else 1
                        wait = 5e-3 * (effect["random_fct"] if spray else 1) * (effect["more_short_fct"] if more else 1)
                        rows.append(
                            rows[-1]
                            | {
                                "kind": "random",
                                "short": short,
                                "long_throughput_bps": noisy(among) if long else None,
                                "short_fct_s": noisy(wait),
                                "out_of_order_share": noisy(effect["random_disorder"] if spray else 0.0),
                            }
                        )
    return pl.DataFrame(rows, schema=SCHEMA)


def row(table, ident):
    return next(r for r in claims.judge(table) if r.id == ident)


def test_every_claim_holds_in_a_world_made_for_it():
    rows = claims.judge(world())
    assert [r.id for r in rows] == ["P1", "P2", "P3", "P4", "P5", "P6", "P7"]
    assert {r.verdict for r in rows} == {Verdict.held}
    assert all(r.low <= r.measured <= r.high for r in rows)
    assert all("with linux it held too" in r.note for r in rows)


@pytest.mark.parametrize(
    ("ident", "change"),
    [
        ("P1", {"static_gain": 0.95}),
        ("P1", {"static_gain": 1.5, "share": 0.6}),
        ("P1", {"share": 1.2}),
        ("P1", {"static_gain": 1.0}),
        ("P2", {"fct_gain": 1.3}),
        ("P2", {"fct_growth": -0.1, "fct_gain": 0.7}),
        ("P3", {"disorder_growth": 0.05}),
        ("P4", {"random_gain": 1.02}),
        ("P4", {"random_gain": 0.8}),
        ("P5", {"random_fct": 1.1}),
        ("P6", {"random_disorder": 0.05}),
        ("P6", {"random_disorder": 0.5}),
        ("P7", {"more_short_throughput": 1.05}),
        ("P7", {"more_short_throughput": 0.6}),
        ("P7", {"more_short_fct": 0.9}),
    ],
)
def test_a_claim_that_the_data_contradict_does_not_hold(ident, change):
    assert row(world(**change), ident).verdict == Verdict.did_not_hold


def test_a_scheme_that_leaves_flows_unfinished_decides_nothing():
    """Its means are over the others: 4 of 1000 flows more would decide the claims about that kind of pairs."""
    table = world()
    late = (pl.col("kind") == "random") & (pl.col("scheme") == "spray") & (pl.col("short") == 10)
    table = table.with_columns(pl.when(late).then(0.004).otherwise(pl.col("unfinished")).alias("unfinished"))
    found = {r.id: r for r in claims.judge(table)}
    assert {r.id for r in found.values() if r.verdict == Verdict.not_measured} == {"P4", "P5", "P7"}
    shares = f"unfinished flows, random pairs, 0 long, {scenarios.TRANSPORTS[0]}: spray, 10 short 0.4 %, single_path"
    assert shares in found["P5"].note
    assert found["P5"].measured is not None
    # Those of 20 short flows matter to P7 only, and opposite differences do not cancel.
    late = (pl.col("kind") == "random") & (pl.col("short") == 20)
    twenty = world().with_columns(pl.when(late).then(0.004).otherwise(pl.col("unfinished")).alias("unfinished"))
    assert [r.id for r in claims.judge(twenty) if r.verdict == Verdict.not_measured] == ["P7"]
    opposite = (pl.col("scheme") == "spray") == (pl.col("long") < 3)
    static = pl.when(opposite & (pl.col("kind") == "static")).then(0.004).otherwise(pl.col("unfinished"))
    found = claims.judge(world().with_columns(static.alias("unfinished")))
    assert [r.id for r in found if r.verdict == Verdict.not_measured] == ["P1", "P2"]
    # As many under all schemes decide nothing either way.
    table = table.with_columns(pl.lit(0.004).alias("unfinished"))
    assert {r.verdict for r in claims.judge(table)} == {Verdict.held}


def test_measured_values_are_those_put_in():
    found = {row.id: row.measured for row in claims.judge(world(noise=1e-6)) if row.id != "P2"}
    wanted = {"P1": 5.0, "P3": 0.0, "P4": 30.0, "P5": 30.0, "P6": 20.0, "P7": -5.0}
    assert found == pytest.approx(wanted, abs=0.01)


@pytest.mark.parametrize(
    ("change", "failed"),
    [
        ({}, None),
        ({"static_gain": 0.95}, "the interval of the difference is not above zero"),
        ({"static_gain": 1.5, "share": 0.6}, "the difference is more than slight, above 25.0 %"),
        ({"share": 1.003}, "a mean exceeds the bound of 105.0 % of the fair share"),
    ],
)
def test_the_note_on_the_static_throughput_names_the_condition_that_failed(change, failed):
    note = row(world(noise=1e-6, **change), "P1").note
    assert (note.split(";")[0].removeprefix("failed: ") == failed) if failed else "failed" not in note
    largest = {"share": "105.3"}.get(next(iter(change), ""), "")
    assert f"the largest mean is {largest}" in note
    assert "the bound 105.0 %" in note
    assert "may exceed the fair share when flows end at different times" in note


def test_a_difference_drowned_in_noise_is_not_held():
    assert row(world(noise=0.5, seeds=4), "P1").verdict == Verdict.did_not_hold


@pytest.mark.parametrize("seeds", [0, 1])
def test_without_two_seeds_nothing_is_measured(seeds):
    rows = claims.judge(world(seeds=seeds))
    assert {r.verdict for r in rows} == {Verdict.not_measured}
    assert {(r.measured, r.low, r.high) for r in rows} == {(None, None, None)}
    assert all("at least two seeds" in r.note for r in rows)


def test_a_transport_that_changes_the_verdict_is_named():
    table = pl.concat([world(transports=("ns3-3.23",)), world(transports=("linux",), random_gain=0.905)])
    assert "depends on the transport: with linux it did not hold, -9." in row(table, "P4").note
    assert "linux: not measured" in row(world(transports=("ns3-3.23",)), "P4").note


def test_ecmp_is_reported_beside_spraying():
    assert "per-flow ECMP instead of spraying: " in row(world(), "P4").note


def test_what_explains_the_completion_times_is_said():
    assert "per short flow, 1.5 packets are retransmitted and 0.0 lost" in row(world(), "P2").note


def test_every_claim_states_its_rule():
    for claim in claims.CLAIMS:
        assert claim.rule.__doc__.startswith(f"{claim.id} holds if")


def test_rows_print_as_the_json_that_is_promised():
    rows = claims.judge(world(seeds=1))[:1] + claims.judge(world())[1:]
    data = json.loads(json.dumps(as_dict("packet-spraying", Size.quick, Outcome(rows, [])), allow_nan=False))
    assert list(data) == ["study", "size", "rows", "remarks"]
    for got in data["rows"]:
        assert list(got) == ["id", "claim", "verdict", "measured", "low", "high", "unit", "note"]
        assert got["verdict"] in ("held", "did not hold", "not measured")


def test_the_size_changes_seeds_and_points_and_nothing_else():
    def physics(text):
        return [
            line
            for line in text.splitlines()
            if not line.startswith(("seeds =", '"traffic.long.flows" =', '"traffic.short.flows" ='))
        ]

    quick, standard, paper = (PacketSpraying().parts(size) for size in Size)
    for other in (standard, paper):
        for a, b in zip(quick, other, strict=True):
            assert a.name == b.name
            assert physics(a.scenario.text) == physics(b.scenario.text)


def test_the_figures_of_the_paper_are_drawn(tmp_path):
    files = figures.draw(world(seeds=3), tmp_path, ("png",))
    assert [path.name for path in files] == [f"figure-{n}.png" for n in range(2, 10)]
    assert all(path.stat().st_size > 10_000 for path in files)


def test_a_study_that_has_not_ended_says_how_to_continue_it(tmp_path):
    study, out = LoadBalancing(), tmp_path / "results"
    (out / study.parts(Size.quick)[0].name).mkdir(parents=True)
    (out / "study.json").write_text('{"study": "load-balancing", "size": "quick", "rows": []}')
    for use in (study.report, lambda directory: study.plot(directory, None, ["pdf"])):
        with pytest.raises(weft.ResultsError, match=r"lacks \d+ of the \d+ parts") as caught:
            use(out)
        assert f"`weft reproduce load-balancing --size quick -o {out}`" in str(caught.value)


def test_studies_have_names_that_differ():
    assert len({study.name for study in ALL}) == len(ALL)
    assert asdict(claims.judge(world())[0])["id"] == "P1"


@pytest.mark.parametrize("study", ALL, ids=lambda study: study.name)
def test_without_any_part_no_study_measures_anything(study):
    rows = study.judge({}).rows
    # Table 2 follows from equations alone.
    assert rows
    assert {row.id for row in rows if row.verdict != Verdict.not_measured} <= {"T6b"}
