"""The roce-load-balancing study: its scenarios, and its rules on data that fits them, breaks them, or is missing."""

from __future__ import annotations

import tomllib
from types import SimpleNamespace

import polars as pl
import pytest

from weft.studies.outcome import Size, Verdict
from weft.studies.roce_load_balancing import claims, figures, fluid, published, setups, table
from weft.studies.roce_load_balancing.table import BALANCE, FIXED, LOSSES, Tables

E4 = {(50, "conweave"): 0.55, (80, "conweave"): 0.6}
"""The published slowdowns of the reproduction are above the claims of the abstract."""


def world(factors=None, marked=1.0, unfairness=0.05, dropped=0, pauses=9, unfinished=0):
    """The published values, times `factors` by load and scheme, and DCQCN at its fixed point."""
    balance = []
    for load, schemes in published.SLOWDOWN.items():
        for scheme, (mean, p99) in schemes.items():
            factor = (factors or {}).get((load, scheme), 1.0)
            for seed in (1, 2):
                values = {"mean": factor * mean + 0.001 * seed, "p99": factor * p99}
                balance.append({"scheme": scheme, "load": load, "seed": seed, "unfinished": unfinished} | values)
    fixed = [
        {
            "senders": senders,
            "marked": marked * fluid.marked(setups.LINE_BPS / senders, setups.FRAMED),
            "unfairness": unfairness,
            "unfinished": unfinished,
        }
        for senders in setups.SENDERS
    ]
    losses = [{"part": "incast", "packets": 1000, "dropped": dropped, "pauses": pauses}]
    return Tables(pl.DataFrame(balance, BALANCE), pl.DataFrame(fixed, FIXED), pl.DataFrame(losses, LOSSES))


def verdicts(tables):
    return {row.id: row.verdict for row in claims.judge(tables)}


def test_the_published_values_hold_but_for_the_abstracts():
    found = verdicts(world())
    assert found.pop("E4") is Verdict.did_not_hold
    assert found == dict.fromkeys(
        ("E3-50", "E3-50-ratios", "E3-80", "E3-80-ratios", "E5-fixed-point", "E5-losses"), Verdict.held
    )
    assert verdicts(world(E4))["E4"] is Verdict.held


@pytest.mark.parametrize(
    ("changes", "row"),
    [
        ({"factors": {(50, "conweave"): 1.2}}, "E3-50"),
        ({"factors": {(80, "conga"): 1.6}}, "E3-80"),
        ({"factors": {(80, "letflow"): 0.6}}, "E3-80"),
        ({"factors": {(50, "letflow"): 1.3}}, "E3-50-ratios"),
        ({"marked": 1.4}, "E5-fixed-point"),
        ({"unfairness": 0.2}, "E5-fixed-point"),
        ({"dropped": 1}, "E5-losses"),
    ],
)
def test_one_value_that_differs_breaks_its_claim(changes, row):
    assert verdicts(world(**changes))[row] is Verdict.did_not_hold


def test_claims_about_missing_or_unfinished_flows_are_not_measured():
    found = verdicts(world(unfinished=1))
    assert {name for name, verdict in found.items() if verdict is not Verdict.not_measured} == {"E5-losses"}
    assert verdicts(world(pauses=0))["E5-losses"] is Verdict.not_measured
    empty = Tables(pl.DataFrame(schema=BALANCE), pl.DataFrame(schema=FIXED), pl.DataFrame(schema=LOSSES))
    assert set(verdicts(empty).values()) == {Verdict.not_measured}


def test_more_senders_need_more_marks():
    shares = [fluid.marked(setups.LINE_BPS / senders, setups.FRAMED) for senders in setups.SENDERS]
    assert 0 < shares[0] < shares[1] < shares[2] < 0.05


def test_a_figure_has_the_slowdowns_by_load(tmp_path):
    files = figures.draw(world().balance, tmp_path, ("pdf",))
    assert [file.name for file in files] == ["slowdown.pdf"] and files[0].stat().st_size > 0


def test_marks_of_the_start_do_not_count():
    columns = {"run": ["long", "short"], "bytes": [400, 100], "ecn_marks": [80, 50], "fct_ps": [4, 1]}
    flows = pl.LazyFrame(columns | {"first_transmissions_received": [400, 100]})
    (found,) = table.fixed_point(SimpleNamespace(scan_flows=lambda measured: flows), 2)
    assert (found["marked"], found["unfinished"]) == (0.1, 0)
    alone = SimpleNamespace(scan_flows=lambda measured: flows.filter(pl.col("run") == "long"))
    assert table.fixed_point(alone, 2) == []


def test_scenarios_are_valid_at_every_size():
    for size, seeds in ((Size.quick, 2), (Size.standard, 1), (Size.paper, 3)):
        scenarios = dict(setups.scenarios(size))
        # A check draws all flows: 100 ms of them once for each size, as the schemes have the same.
        duration, warm_up, _ = setups.EXTENTS[size]
        for scheme in set(setups.SCHEMES) - {"conweave"}:
            text = scenarios[scheme].text
            assert f'duration = "{duration}"' in text and f'window = ["{warm_up}", "{duration}"]' in text
            short = ['run.duration="4 ms"', 'measure.window=["1 ms", "4 ms"]']
            scenarios[scheme] = scenarios[scheme].with_sets(short)
        runs = [len(scenario.points()) for scenario in scenarios.values()]
        assert runs == [2 * seeds] * 4 + [1] + [2] * 3
    fabric = tomllib.loads(dict(setups.scenarios(Size.quick))["conweave"].source[0])["fabric"]
    assert (fabric["overhead"], fabric["red"]["at"]) == ("ppp", "dequeue")
    assert setups.ANSWER_BITS == (48 + 2) * 8
    bytes_sent = setups.flow_bytes(2, 1.0)
    assert bytes_sent == pytest.approx(setups.LINE_BPS / 16 * 1000 / 1082, rel=1e-6)
