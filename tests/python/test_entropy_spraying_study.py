"""The entropy-spraying study: its scenarios, and its rules on data that fits them, breaks them, or is missing."""

from __future__ import annotations

import polars as pl
import pytest

from weft.studies.entropy_spraying import claims, figures, published, setups
from weft.studies.entropy_spraying.table import SCHEMA
from weft.studies.outcome import Size, Verdict


def world(hosts=(432, 1024), e2=8192, **changes):
    """Data in which every claim holds: htsim's values, times `factor` where `changes` names a row."""
    rows = []

    def add(kind, number, entropies, values, name):
        for seed in range(1, 5):
            factor = changes.get(name, 1.0) * (1 + 0.001 * seed)
            row = dict(zip(("p50", "p99", "max"), (factor * value for value in values), strict=True))
            rows.append(
                {"kind": kind, "hosts": number, "entropies": entropies, "seed": seed, "unfinished": 0}
                | {"trimmed_share": 0.02}
                | row
            )

    for number in hosts:
        place = published.HOSTS.index(number)
        for asked in setups.entropies(number, tuple(published.LAST_US)):
            last = published.LAST_US.get(asked, published.LAST_US[64])[place]
            add("hosts", number, asked, (last, last, last), f"{number}_{asked}")
    for (kind, entropies), values in published.DISTRIBUTION_US.items():
        add(kind, e2, entropies, values, f"{kind}_{entropies}")
    return pl.DataFrame(rows, schema=SCHEMA)


def verdicts(table):
    return {row.id: row.verdict for row in claims.judge(table)}


def test_htsims_own_values_hold():
    found = verdicts(world())
    assert found == dict.fromkeys(("E1-432", "E1-1024", "E2", "E2-8192"), Verdict.held)


@pytest.mark.parametrize(
    ("change", "row"),
    [
        ({"432_36": 1.12}, "E1-432"),
        ({"1024_1": 0.88}, "E1-1024"),
        ({"trim_32": 1.3}, "E2"),
        ({"ecn_256": 1.12}, "E2-8192"),
    ],
)
def test_one_value_that_differs_breaks_its_claim(change, row):
    assert verdicts(world(**change))[row] is Verdict.did_not_hold


def test_a_difference_below_the_tolerance_breaks_nothing():
    assert set(verdicts(world(**{"432_8": 1.08, "1024_64": 0.92})).values()) == {Verdict.held}


def test_claims_about_missing_or_unfinished_flows_are_not_measured():
    small = verdicts(world(hosts=(432,), e2=432))
    assert small["E2"] is Verdict.held and small["E2-8192"] is Verdict.not_measured
    unfinished = verdicts(world().with_columns(pl.lit(1).alias("unfinished").cast(pl.Int64)))
    assert set(unfinished.values()) == {Verdict.not_measured}
    assert verdicts(world().filter(pl.col("entropies") != 8))["E1-432"] is Verdict.not_measured


def test_a_figure_has_a_panel_for_each_number_of_hosts(tmp_path):
    files = figures.draw(world(), tmp_path, ("pdf",))
    assert [file.name for file in files] == ["last-flow.pdf"] and files[0].stat().st_size > 0


def test_scenarios_have_no_more_entropies_than_paths():
    assert setups.entropies(432, (1, 8, 32, 64, 256)) == (1, 8, 32, 36)
    assert setups.entropies(8192, (1, 8, 32, 64, 256)) == (1, 8, 32, 64, 256)
    for size, runs in ((Size.quick, 4 * 4 + 3 * 2 * 4), (Size.standard, 4 * 4 + 4 * 4 + 3 * 2 * 4)):
        assert sum(len(setup.scenario().points()) for setup in setups.setups(size)) == runs
