"""The load-balancing study: its rules on data made to fit or break them, a tiny real run, and its page in a browser."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import sample
import weft
from chromium import opened
from weft.results import Results
from weft.studies.base import RunOptions, Simulated
from weft.studies.load_balancing import (
    LoadBalancing,
    claims,
    figures,
    listing,
    measures,
    own,
    setups,
    standing,
    survey,
    table,
)
from weft.studies.load_balancing.rules import Tables
from weft.studies.outcome import Size, Verdict

SCHEMES = tuple(setups.registry())
PARTS = (
    *((f"testbed-{kind}", load) for kind, loads in own.TESTBED_LOADS.items() for load in loads),
    ("clos", own.CLOS_LOAD),
    ("clos-random", own.PRESTO_LOAD),
    ("single-switch", own.PRESTO_LOAD),
    ("clos-ecn", own.PLB_LOAD),
    ("striped", None),
    ("hermes-gray", own.HERMES_LOAD),
    ("hermes-degraded", own.HERMES_DEGRADED_LOAD),
    *((f"elephants-{pattern}", None) for pattern in own.PATTERNS),
)


def world(seeds=6, schemes=SCHEMES, **changes):
    """Tables in which every claim holds; `changes` breaks one."""
    effect = {
        "conga": 1 / 5,  # CONGA's mean FCT over ECMP's in the testbed
        "letflow_mild": 1.15,  # LetFlow's over CONGA's
        "letflow_large": 1.8,
        "drill": 1.35,  # CONGA's over DRILL's
        "drill_presto": 1.35,
        "bisection": 0.95,
        "hashing": 0.45,  # ECMP's share of the optimum
        "presto": 1.05,  # Presto's slowdown over the single switch's
        "variation": 1 / 25,
        "imbalance": 0.4,
        "drops": 0.67,
        "small_p99_s": 0.8,
        "hermes_conga": 0.95,  # Hermes's over CONGA's with slow uplinks
        "hermes_clove": 0.85,
        "hermes_gray": 0.6,
        "noise": 0.005,
    } | changes
    rows = []
    for part, load in PARTS:
        for seed in range(seeds):
            rng = np.random.default_rng([seed, len(part)])
            for scheme in schemes:
                value = dict.fromkeys(measures.SCHEMA, 1.0) | effects(effect, part, scheme)
                value = {key: v * (1 + effect["noise"] * rng.standard_normal()) for key, v in value.items()}
                value |= {"part": part, "load": load, "scheme": scheme, "seed": seed}
                value |= dict.fromkeys(measures.UNFINISHED.values(), 0.0)
                rows.append(value)
    return Tables(surveyed(seeds), pl.DataFrame(rows, schema=measures.SCHEMA), {})


def effects(effect, part, scheme):
    """The values of a scheme in a part that differ from 1."""
    kind = part.partition("-")[2]
    if part.startswith("testbed"):
        over_conga = effect[f"letflow_{kind}"]
        return {"mean_fct_s": {"conga": effect["conga"], "letflow": effect["conga"] * over_conga}.get(scheme, 1.0)}
    if part == "clos":
        return {"mean_fct_s": {"conga": effect["drill"], "presto": effect["drill_presto"]}.get(scheme, 1.0)}
    if part == "clos-random":
        return dict.fromkeys(("small_mean", "large_mean"), effect["presto"] if scheme == "presto" else 2.0)
    if part == "clos-ecn" and scheme == "plb":
        return {key: effect[key] for key in ("imbalance", "drops", "small_p99_s")}
    if part == "striped" and scheme == "wcmp":
        return {"variation": effect["variation"]}
    if part.startswith("elephants"):
        return {"bisection": effect["bisection"] if scheme == "hedera" else effect["hashing"]}
    if part == "hermes-gray" and scheme == "hermes":
        return {"mean_fct_s": effect["hermes_gray"]}
    if part == "hermes-degraded":
        return {
            "mean_fct_s": {"conga": 1 / effect["hermes_conga"], "clove": 1 / effect["hermes_clove"]}.get(scheme, 1.0)
        }
    return {}


def surveyed(seeds):
    """A survey in which TCP-Path is 20 % slower than ECMP, and Tag-and-Forward is on fat-trees only."""
    rows = []
    for situation in ("symmetric", "cut", "cold", "fat-tree"):
        for scheme, mean in (("ecmp", 1.0), ("tcp_path", 1.2), ("drill", 0.9), ("tag_forward", 1.1)):
            if scheme == "tag_forward" and situation != "fat-tree":
                continue
            for seed in range(seeds):
                row = dict.fromkeys(table.MEASURES, mean * (1 + 0.01 * seed))
                rows.append(
                    row | dict(zip(table.KEYS, (situation, "web-search", "dctcp", 0.4, scheme, seed), strict=True))
                )
    return pl.DataFrame(rows, schema=table.SCHEMA)


def row(tables, ident):
    return next(r for r in claims.judge(tables) if r.id == ident)


def test_every_claim_holds_in_a_world_made_for_it():
    rows = claims.judge(world())
    assert [r.id for r in rows] == [f"L{number}" for number in range(1, 10)]
    assert {r.id: r.verdict for r in rows} == {
        r.id: Verdict.not_measured if r.id == "L9" else Verdict.held for r in rows
    }
    assert all(r.low <= r.measured <= r.high for r in rows)


@pytest.mark.parametrize(
    ("ident", "changes"),
    [
        ("L1", {"conga": 1 / 3}),
        ("L1", {"conga": 1.2}),
        ("L2", {"letflow_mild": 1.3}),
        ("L2", {"letflow_large": 2.2}),
        ("L3", {"drill": 1.1}),
        ("L3", {"drill": 2.0}),
        ("L3", {"drill_presto": 0.9}),
        ("L4", {"bisection": 0.85}),
        ("L4", {"hashing": 0.6}),
        ("L5", {"presto": 1.2}),
        ("L6", {"variation": 0.1}),
        ("L7", {"imbalance": 0.7}),
        ("L7", {"drops": 0.9}),
        ("L7", {"small_p99_s": 1.1}),
        ("L8", {"hermes_conga": 0.8}),
        ("L8", {"hermes_clove": 1.05}),
        ("L8", {"hermes_gray": 0.75}),
    ],
)
def test_a_claim_that_the_data_contradict_does_not_hold(ident, changes):
    assert row(world(**changes), ident).verdict == Verdict.did_not_hold


def test_a_claim_about_a_missing_scheme_is_not_measured():
    without = tuple(scheme for scheme in SCHEMES if scheme not in ("presto", "plb", "hedera", "clove"))
    verdicts = {r.id: (r.verdict, r.note) for r in claims.judge(world(schemes=without))}
    assert verdicts["L4"] == (Verdict.not_measured, "no runs with hedera")
    assert verdicts["L7"] == (Verdict.not_measured, "no runs with plb")
    # CONGA alone gives a value, and no verdict on a claim about both.
    found = row(world(schemes=without), "L3")
    assert found.verdict == Verdict.not_measured
    assert found.measured == pytest.approx(1.35, rel=0.02)
    assert "no runs with presto" in found.note
    assert "no runs with clove" in verdicts["L8"][1]


def test_a_permutation_is_staggered():
    pairs = own._staggered()
    assert (
        sorted(source for source, _ in pairs) == sorted(end for _, end in pairs) == sorted(f"h{i}" for i in range(128))
    )
    edges = [(int(a[1:]) // 4, int(b[1:]) // 4) for a, b in pairs]
    assert [sum(a == b for a, b in edges), sum(a // 4 == b // 4 for a, b in edges)] == [64, 96]


def test_drops_that_ecmp_does_not_have_are_no_verdict_on_plb():
    tables = world()
    none = pl.when(pl.col("part") == "clos-ecn").then(0.0).otherwise(pl.col("drops")).alias("drops")
    found = row(replace(tables, own=tables.own.with_columns(none)), "L7")
    assert (found.verdict, found.note.split("; ")[0]) == (Verdict.not_measured, "no drops under ECMP")
    assert found.measured == pytest.approx(-60, rel=0.02)


@pytest.mark.parametrize(
    ("ident", "part", "scheme", "column"),
    [
        ("L1", "testbed-mild", "conga", "unfinished"),
        ("L2", "testbed-large", "letflow", "unfinished"),
        ("L3", "clos", "drill", "unfinished"),
        ("L5", "clos-random", "presto", "large_unfinished"),
        ("L6", "striped", "wcmp", "unfinished"),
        ("L7", "clos-ecn", "plb", "small_unfinished"),
        ("L8", "hermes-gray", "hermes", "unfinished"),
    ],
)
def test_a_scheme_that_strands_flows_gets_no_verdict(ident, part, scheme, column):
    tables = world()

    def stranded(share):
        where = (pl.col("part") == part) & (pl.col("scheme") == scheme)
        changed = pl.when(where).then(share).otherwise(pl.col(column)).alias(column)
        return row(replace(tables, own=tables.own.with_columns(changed)), ident)

    assert stranded(0.0005).verdict == Verdict.held
    found = stranded(0.03)
    assert found.verdict == Verdict.not_measured
    assert found.measured == stranded(0.0).measured
    assert found.note.startswith(f"no verdict: means over finished flows are not comparable; unfinished flows, {part}")
    assert f"{scheme} 3.0 %" in found.note.partition(";")[2]


def test_one_seed_measures_nothing():
    assert {r.verdict for r in claims.judge(world(seeds=1))} == {Verdict.not_measured}


def test_measured_values_are_those_put_in():
    found = {r.id: r.measured for r in claims.judge(world(noise=1e-6))}
    wanted = {"L1": 5, "L2": 1.15, "L3": 1.35, "L4": 95, "L5": 1.05, "L6": 25, "L7": -60, "L8": 40, "L9": 20}
    assert found == pytest.approx(wanted, rel=0.001)


def test_every_rule_is_stated():
    for claim in claims.CLAIMS:
        assert claim.rule.__doc__.startswith((f"{claim.id} holds if", f"{claim.id} has no verdict"))


def test_the_places_of_the_papers_schemes_are_by_slowdown():
    data = surveyed(3)
    assert standing.ranking(data, "fat-tree") == ["drill", "ecmp", "tag_forward", "tcp_path"]
    notes = "; ".join(standing.standing(data)[1])
    assert "symmetric, 1:1, of 3: tcp_path 3 (best: drill, ecmp, tcp_path)" in notes
    assert "fat-tree, of 4: tcp_path 4, tag_forward 3" in notes


def test_marked_groups_have_no_numbers_and_no_places():
    data = surveyed(3)
    later = data.with_columns(pl.lit(0.8).alias("load"), pl.col("mean") * 2)
    one = (pl.col("situation") == "fat-tree") & (pl.col("scheme") == "drill")
    later = later.with_columns(pl.when(one).then(pl.lit("unstable")).alias("mark"))
    data = pl.concat([data, later])
    found = listing.aggregate(data).filter(pl.col("mark").is_not_null())
    assert found.select("situation", "scheme", "load").rows() == [("fat-tree", "drill", 0.8)]
    assert found.select(*table.MEASURES).null_count().row(0) == (1,) * len(table.MEASURES)
    # Without its heaviest load, DRILL would be the best.
    notes = "; ".join(standing.standing(data)[1])
    assert "fat-tree, of 3: tcp_path 3, tag_forward 2 (best: ecmp, tag_forward, tcp_path)" in notes
    assert "symmetric, 1:1, of 3: tcp_path 3 (best: drill, ecmp, tcp_path)" in notes
    # The places are the same without the marked runs, so that the row keeps its note.
    assert standing.standing(data.filter(pl.col("mark").is_null())) == standing.standing(data)


def test_the_figure_has_the_label_of_marked_schemes(tmp_path):
    data = surveyed(3)
    found = data.with_columns(pl.when(pl.col("scheme") == "drill").then(pl.lit("unstable")).alias("mark"))
    [file] = figures.draw(found, tmp_path, ["svg"])
    assert file.read_text().count("unstable") == 4
    every = data.with_columns(pl.lit("too short").alias("mark"))
    assert figures.draw(every, tmp_path, ["svg"])[0].read_text().count("too short") == 13


def test_fair_shares_are_max_min():
    # Two flows share a destination; the third takes the rest of its source.
    assert measures.fair_shares([("a", "x"), ("b", "x"), ("b", "y")]) == pytest.approx([0.5, 0.5, 0.5])
    assert measures.fair_shares([("a", "x"), ("b", "x"), ("c", "x"), ("c", "y")]) == pytest.approx(
        [1 / 3] * 3 + [2 / 3]
    )


def test_imbalance_is_zero_for_equal_uplinks_and_ignores_idle_leaves():
    nodes = [{"name": n, "role": "switch", "tier": t} for n, t in (("l0", 1), ("l1", 1), ("s0", 2), ("s1", 2))]

    def summary(*uses):
        ends = (("l0", "s0"), ("l0", "s1"), ("l1", "s0"), ("l1", "s1"))
        links = [{"from": a, "to": b, "up": True, "utilisation": u} for (a, b), u in zip(ends, uses, strict=True)]
        return {"nodes": nodes, "links": links}

    assert measures.imbalance(summary(0.4, 0.4, 0, 0)) == 0
    assert measures.imbalance(summary(0.2, 0.6, 0.3, 0.3)) == pytest.approx(0.25)
    assert measures.imbalance(summary(0, 0, 0, 0)) is None


def test_the_survey_has_every_scheme_of_this_version():
    quick = survey.setups(Size.quick)
    labels = {scheme for setup in quick for scheme in setup.schemes}
    assert "hedera interval=1 ms" in labels
    assert {label.partition(" ")[0] for label in labels} == {scheme["name"] for scheme in weft.schemes()}
    refused = survey.refused()
    assert "is not a fat-tree" in refused["symmetric", "tag_forward"]
    assert ("fat-tree", "tag_forward") not in refused
    remarks = listing.remarks(refused)
    assert any(remark.startswith("conga is left out of fat-tree; fat-tree, one uplink cut: ") for remark in remarks)
    assert "hedera runs with interval=1 ms" in remarks
    # Multipath TCP has parts of its own, with ECMP for comparison.
    mptcp = [setup for setup in quick if setup.name.endswith("_mptcp")]
    assert {setup.schemes for setup in mptcp} == {("ecmp", "smoc")}
    assert all('mptcp = "ndiffports"' in setup.scenario().text for setup in mptcp)


def test_the_size_changes_seeds_loads_and_durations_and_nothing_else():
    def physics(setup):
        times = ("seeds =", "duration =", "limit =", "window =", "interval =", "load =", '"traffic.load"')
        return [line for line in setups.text(setup).splitlines() if not line.startswith(times)]

    quick, standard, paper = ({setup.name: setup for setup in survey.setups(size)} for size in Size)
    assert quick.keys() < standard.keys() < paper.keys()
    for name, setup in quick.items():
        assert physics(setup) == physics(standard[name]) == physics(paper[name])
    assert sum(setup.runs for setup in quick.values()) < sum(setup.runs for setup in standard.values())
    for size in Size:
        assert all(setup.scenario().points() for setup in own.setups(size))


def test_the_events_of_asymmetric_situations_are_those_of_the_survey():
    events = {s.name: tomllib.loads(s.events).get("event", []) for s in survey.SITUATIONS}
    assert {name for name, found in events.items() if found} == {"slow", "gray"}
    for name in ("slow", "gray"):
        assert [event["change"] for event in events[name]] == [f"l{leaf}-s0" for leaf in range(8)]
    assert {(event["at"], event["rate"]) for event in events["slow"]} == {("0 s", 0.5)}
    assert {(event["at"], event["loss"]) for event in events["gray"]} == {("0 s", 0.02)}


def test_runs_are_warm_and_last_ten_times_the_ideal_time_of_the_largest_flow():
    for setup in survey.setups(Size.standard):
        assert setup.warm == (not setup.name.startswith("cold"))
        if setup.window is None:
            continue
        first, last = setup.window
        largest = survey.LARGEST_MB[setup.name.split("_")[1]] * 8e6 / (survey.GBPS * 1e9)
        assert last - first >= 10 * largest
        assert first >= largest


def test_loads_are_shares_of_what_a_situation_leaves():
    loads = {setup.name: setup.loads for setup in survey.setups(Size.standard)}
    assert loads["symmetric_web-search_dctcp"] == (0.6,)
    assert loads["cut_web-search_dctcp"] == pytest.approx((0.525,))
    assert loads["fat-tree-cut_web-search_dctcp"] == pytest.approx((0.45,))


def test_a_setup_keeps_its_events():
    whole = setups.Setup("x", survey.LEAF_SPINE, 'sizes = "web-search"', ("ecmp",), "dctcp", 0.01, 1, survey.GRAY)
    assert len(tomllib.loads(setups.text(whole))["event"]) == 8


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A study of three schemes in two situations, run; with an uplink cut, runs are too short for their flows."""

    class Tiny(LoadBalancing):
        def parts(self, size):
            symmetric = next(s for s in survey.setups(size) if s.name == "symmetric_web-search_dctcp")
            small = replace(symmetric, traffic=symmetric.traffic.replace('truncate = "5 MB"', 'truncate = "50 kB"'))
            few = [
                replace(setup, schemes=schemes, seconds=seconds, window=None, loads=(0.4,), seeds=2)
                for seconds, setup, schemes in (
                    (0.001, small, ("ecmp", "tcp_path")),
                    (
                        0.0003,
                        next(s for s in survey.setups(size) if s.name == "cut_web-search_dctcp"),
                        ("ecmp", "drill"),
                    ),
                )
            ]
            testbed = next(s for s in own.setups(size) if s.name == "testbed-mild")
            changes = {"seconds": 0.002, "window": (0.001, 0.002), "loads": (0.7,), "seeds": 2}
            few.append(replace(testbed, schemes=("ecmp", "conga"), **changes))
            return [Simulated(setup.name, setup.scenario()) for setup in few]

    out = tmp_path_factory.mktemp("load-balancing") / "study"
    return Tiny(), out, Tiny().run(out, Size.quick, RunOptions(jobs=2))


def test_a_run_gives_rows_tables_and_figures(tiny):
    study, out, outcome = tiny
    assert [r.id for r in outcome.rows] == [f"L{number}" for number in range(1, 10)]
    frame = pl.read_csv(out / "survey.csv")
    assert set(frame["scheme"]) == {"ecmp", "tcp_path", "drill"}
    assert frame["seeds"].unique().to_list() == [2]
    by_scheme = {row["scheme"]: row for row in frame.filter(pl.col("situation") == "symmetric").iter_rows(named=True)}
    # TCP-Path floods and keeps an entry per flow; ECMP does neither. No flow is faster than on an idle fabric.
    assert by_scheme["tcp_path"]["control"] > 10 * by_scheme["ecmp"]["control"] == 0
    assert by_scheme["tcp_path"]["entries"] > 0
    assert by_scheme["tcp_path"]["needs"] == "new-switch"
    assert min(row["small_mean"] for row in by_scheme.values()) >= 1
    assert {row["mark"] for row in by_scheme.values()} == {None}
    cut = frame.filter(pl.col("situation") == "cut")
    assert set(cut["mark"]) == {"too short"}
    assert cut.select(*table.MEASURES).null_count().row(0) == (2,) * len(table.MEASURES)
    assert "| `drill` | too short | – |" in (out / "survey.md").read_text()
    data = json.loads((out / "survey.json").read_text())
    assert [row["mark"] for row in data["rows"] if row["situation"] == "cut"] == ["too short"] * 2
    assert len(data["rows"]) == len(frame)
    assert {"situation": "symmetric", "scheme": "tag_forward"}.items() <= data["left_out"][0].items()
    assert "| `drill` |" in (out / "survey.md").read_text()
    files = study.plot(out, None, ["png"])
    assert [path.name for path in files] == ["slowdown-dctcp.png"]


def test_flows_of_the_warm_up_do_not_count(tiny):
    _, out, _ = tiny
    part = Results(out / "testbed-mild")
    flows = part.flows(measured=False)
    assert set(flows["measured"]) == {False, True}
    wanted = flows.filter("measured").group_by("scheme", "seed").agg(pl.col("fct_s").mean())
    found = measures.gather({"testbed-mild": part}).select("scheme", "seed", "mean_fct_s")
    assert {(s, n): v for s, n, v in found.iter_rows()} == pytest.approx({(s, n): v for s, n, v in wanted.iter_rows()})


def test_unfinished_flows_are_counted_by_size(tmp_path):
    path = sample.write_results(tmp_path / "r", {"scheme.name": ["ecmp"]}, 1)
    (run,) = Results(path).finished
    flows = pl.read_parquet(run.path / "flows.parquet").with_columns(pl.col("class").cast(pl.String))
    large = pl.col("class") == "elephant"
    flows.with_columns(fct_ps=pl.when(~large).then("fct_ps"), measured=True).write_parquet(run.path / "flows.parquet")
    [found] = measures.gather({"clos": Results(path)}).iter_rows(named=True)
    assert found["large_unfinished"] == 1
    assert found["small_unfinished"] < found["unfinished"] < 1


def test_elephants_that_start_before_the_window_count(tmp_path):
    path = sample.write_results(tmp_path / "r", {"scheme.name": ["ecmp", "hedera"]}, 2)
    for run in Results(path).finished:
        file = run.path / "flows.parquet"
        pl.read_parquet(file).with_columns(measured=pl.lit(value=False)).write_parquet(file)
    found = measures.gather({"elephants-permutation": Results(path)})
    assert len(found) == 4
    assert found["bisection"].min() > 0


def test_the_page_sorts_by_click_and_by_key(tiny, browser):
    _, out, _ = tiny
    page = opened(browser, out / "survey.html", width=800)
    assert page.complaints == []
    assert [url for url in page.requests if not url.startswith(("file:", "data:"))] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 800

    def column(place):
        return page.locator(f"#measures tbody tr > :nth-child({place})").all_inner_texts()

    assert sorted(column(1)) == ["ecmp", "tcp_path"]
    page.get_by_role("button", name="Scheme").first.click()
    assert column(1) == ["ecmp", "tcp_path"]
    button = page.get_by_role("button", name="Scheme").first
    button.focus()
    page.keyboard.press("Enter")
    assert column(1) == ["tcp_path", "ecmp"]
    assert page.locator("#measures th[aria-sort=descending]").count() == 1
    # The focus stays on the heading, so that a second press turns the order again.
    page.keyboard.press("Enter")
    assert column(1) == ["ecmp", "tcp_path"]
    page.get_by_role("button", name="one uplink cut").first.click()
    assert sorted(column(1)) == ["drill", "ecmp"]
    assert column(2) == ["too short"] * 2
    assert page.locator("#situations tbody tr").count() == 3
    assert page.locator("#situations td", has_text="too short").count() == 2


def test_a_study_without_a_page_names_a_part(tmp_path):
    from weft.errors import ResultsError
    from weft.studies.packet_spraying import PacketSpraying

    (tmp_path / "study.json").write_text('{"study": "packet-spraying", "size": "quick", "rows": []}')
    with pytest.raises(ResultsError, match=r"report on one of them, such as .*static"):
        PacketSpraying().report(tmp_path)
