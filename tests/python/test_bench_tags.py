"""The cost of frames with tags and with tables: sums over paths from times per switch, and a small real run."""

from __future__ import annotations

from io import StringIO
from itertools import product

import pytest
from rich.console import Console

from benches.tags import show
from benches.tags.ways import Costs, Table
from quick_bench import ROOT, quick_run
from test_bench_switch import unable


def spread(median: float) -> dict:
    return {"p10": median - 5, "p50": median, "p90": median + 50}


def document() -> dict:
    """An empty run takes 100 ns, lookups 100 ns in a small table and 500 in a large one, pushing 120 more."""
    lookups = [
        {"mode": mode, "rules": rules, "kinds": 1, "v6": v6, "prefix": False, "ns": spread(100 + took + more)}
        for v6 in (False, True)
        for rules, took in ((100, 100), (40_000, 500))
        for mode, more in (("tag-forward", 120), ("flow-table", 0))
    ]
    steps = (("push", 320), ("forward", 140), ("pop", 400))
    tags = [
        {"what": what, "v6": v6, "bytes": size, "ns": spread(took)}
        for v6 in (False, True)
        for size in (64, 1500)
        for what, took in steps
    ]
    return {
        "machine": {"cpu": "one", "cores": 2, "kernel": "6.1"},
        "noise": {"load_before": 0.0, "load_after": 0.0, "stolen_s": 0.0},
        "took_s": 1.0,
        "figures": {"nothing": spread(100), "tags": tags, "lookups": lookups},
    }


def test_a_way_with_tags_has_one_look_up_and_four_switches_that_follow_the_tag():
    costs = Costs.read(document()["figures"])
    small, large = (costs.way(Table(rules, 1, False, False)) for rules in (100, 40_000))
    # 100 + 120 at the source, three times 40, 300 to pop the tag.
    assert (small.lookup, small.tables, small.tags, small.saved) == (100, 500, 640, -140)
    assert (large.tables, large.tags, large.saved) == (2500, 1040, 1460)
    # Four lookups of this length take 120 + 3 * 40 + 300.
    assert costs.even == 135


def test_the_figures_are_shown_and_drawn(tmp_path):
    shown = StringIO()
    show.tables(document(), Console(file=shown, width=120))
    assert "40,000" in shown.getvalue()
    assert "where a lookup takes 135 ns" in shown.getvalue()
    (drawn,) = show.draw(document(), tmp_path)
    assert drawn.name == "lookups.png"
    assert drawn.read_bytes().startswith(b"\x89PNG")


@pytest.mark.long
def test_a_small_run_measures_every_step_and_table(tmp_path):
    reason = unable()
    program = ROOT / "target/release/examples/tags"
    if reason is None and not program.exists():
        reason = f"missing: {program} (make bench-tags)"
    if reason:
        pytest.skip(reason)
    costs = Costs.read(quick_run(tmp_path, "tags")[0]["figures"])
    assert len(costs.lookups["flow-table"]) == 2 * 2 * 4
    assert set(costs.steps) == set(product(("push", "forward", "pop"), (64, 1500)))
