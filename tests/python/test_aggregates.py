"""Numbers kept beside large results equal those computed from all rows, and are never used for changed files."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sample
from weft import Results, aggregates, extracts, paths
from weft.cached_tables import ENTRY, CachedTables
from weft.content import Content
from weft.extracts_links import link_series
from weft.flow_metrics import VALUES
from weft.metrics import METRIC_KEYS
from weft.reporting import details
from weft.samples import ecdf, ecdf_of_counts
from weft.statistics import estimate
from weft.summary import summarise

EXTRACTS = ("completion_curves", "throughput_over_time", "largest_queue", "queue_exceedance", "link_use")


@pytest.fixture
def keeps(monkeypatch):
    """Results of any size are kept, and read a few runs at a time."""
    monkeypatch.setattr(aggregates, "WORTH", 0)
    monkeypatch.setattr(aggregates, "BATCH", 60_000)


def numbers(directory):
    """All numbers of a summary, a report and its figures."""
    results = Results(directory)
    parts = dict(details.Details(Content(results, None)).parts())
    found = [summarise(results).as_dict(), summarise(results, by=["scheme"]).as_dict()]
    found += [paths.as_dict(paths.choices(results)), results.links().to_dicts()]
    return [*found, parts, *(getattr(extracts, name)(results).to_dicts() for name in EXTRACTS)]


def files(directory):
    return {file.name: file for file in (Path(directory) / aggregates.FOLDER).iterdir()}


def touch(path):
    """A different modification time, as after any change."""
    os.utime(path, ns=(0, path.stat().st_mtime_ns + 1))


def test_small_results_are_left_as_they_are(own_dir):
    before = sorted(own_dir.rglob("*"))
    numbers(own_dir)
    assert sorted(own_dir.rglob("*")) == before


def test_kept_numbers_are_those_of_the_first_reading_and_read_nothing_again(own_dir, keeps, monkeypatch):
    fresh = numbers(own_dir)
    assert set(files(own_dir)) == {"flows", "series", "summaries", "shared", "curves", "links", "pairs"}
    for name in ("of_flows", "of_series", "of_summaries"):
        monkeypatch.setattr(aggregates.reduction, name, None)
    monkeypatch.setattr(Results, "files", None)
    assert numbers(own_dir) == fresh


@given(seed=st.integers(0, 10**6), batch=st.integers(1, 200_000))
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_metrics_of_runs_are_those_computed_from_all_rows_at_once(tmp_path, monkeypatch, seed, batch):
    monkeypatch.setattr(aggregates, "WORTH", 0)
    monkeypatch.setattr(aggregates, "BATCH", batch)
    draw = random.Random(seed)
    loads = draw.sample([0.1, 0.2, 0.3, 0.5], draw.randint(1, 3))
    sweep = {"scheme.name": draw.sample(["ecmp", "spray", "single_path"], draw.randint(1, 3)), "traffic.load": loads}
    directory = tmp_path / f"{seed}-{batch}"
    shutil.rmtree(directory, ignore_errors=True)
    sample.write_results(directory, sweep, draw.randint(1, 3), flows=draw.randint(3, 90), samples=draw.randint(2, 9))
    for _ in ("computed", "kept"):
        found = Results(directory)
        flows = found.flows()
        for keys, kept in ((["run", "class"], found.aggregates.classes()), (["run"], found.aggregates.whole())):
            direct = flows.group_by(keys, maintain_order=True).agg(
                pl.len().alias("flows"),
                pl.col("fct_ps").count().alias("finished"),
                *(VALUES[key].alias(key) for key in METRIC_KEYS),
            )
            assert kept.drop("identity", "untimed", strict=False).equals(direct)
        queues = found.series("queue_bytes", measured=True).filter(pl.col("value") > 0)
        occupancy = found.aggregates.samples("occupancy")
        assert occupancy["count"].sum() == len(queues)
        fullest = found.series("queue_bytes").group_by("run", "time_ps").agg(pl.col("value").max())
        assert found.aggregates.samples("fullest").sort("run", "time_ps").equals(fullest.sort("run", "time_ps"))


@given(st.lists(st.integers(0, 40), max_size=400), st.integers(12, 200))
def test_a_distribution_from_counts_is_that_of_all_values(values, limit):
    counted = pl.Series("value", values, dtype=pl.Float64).value_counts()
    assert ecdf_of_counts(counted["value"].to_list(), counted["count"].to_list(), limit) == ecdf(values, limit)


@pytest.mark.parametrize("file", ["flows.parquet", "series.parquet", "summary.json"])
def test_a_changed_file_is_read_again(own_dir, keeps, file):
    numbers(own_dir)
    victim, other = (run.path for run in Results(own_dir).finished[:2])
    (victim / file).write_bytes((other / file).read_bytes())
    changed = numbers(own_dir)
    shutil.rmtree(own_dir / aggregates.FOLDER)
    assert changed == numbers(own_dir)


def test_only_changed_and_new_runs_are_read_again(own_dir, keeps, monkeypatch):
    numbers(own_dir)
    read = []
    original = aggregates.reduction.of_flows
    monkeypatch.setattr(
        aggregates.reduction,
        "of_flows",
        lambda flows: read.extend(flows[ENTRY].unique()) or original(flows),
    )
    victim = Results(own_dir).finished[3]
    touch(victim.path / "flows.parquet")
    numbers(own_dir)
    assert read == [victim.id]
    numbers(own_dir)
    assert read == [victim.id]


@pytest.mark.parametrize(("file", "read"), [("series.parquet", "link_series"), ("flows.parquet", "PointFlows")])
def test_link_series_and_pairs_are_computed_again_only_where_a_run_changed(own_dir, keeps, monkeypatch, file, read):
    before = numbers(own_dir)
    computed = []
    for name in ("link_series", "PointFlows"):
        original = getattr(details, name)
        spy = lambda results, point, *more, name=name, of=original: (  # noqa: E731
            computed.append((name, point)) or of(results, point, *more)
        )
        monkeypatch.setattr(details, name, spy)
    assert numbers(own_dir) == before
    assert computed == []
    victim, other = (Results(own_dir).finished[place] for place in (2, 8))
    (victim.path / file).write_bytes((other.path / file).read_bytes())
    assert numbers(own_dir) != before
    assert computed == [(read, victim.point)]


def test_link_series_are_those_of_all_samples_at_once_with_intervals_over_seeds(own_dir):
    results = Results(own_dir)
    links, point, scheme = ["e0->a0", "a0->e0", "c0->a0"], results.points[0], results.schemes[1]
    found = link_series(results, point, links, 10)
    series = results.series("link_utilisation", "queue_bytes").filter(
        (pl.col("point") == point) & (pl.col("scheme") == scheme)
    )
    samples = found.step_ps / 2e10
    for row, link in enumerate(links):
        of_link = series.filter(pl.col("entity") == link).with_columns(
            ((pl.col("time_ps") - 1) // int(found.step_ps)).alias("step")
        )
        for step in range(found.queue[scheme].mean.shape[1]):
            own = of_link.filter(pl.col("step") == step)
            used = (
                own.filter(pl.col("metric") == "link_utilisation").group_by("run").agg(pl.col("value").sum() / samples)
            )
            most = own.filter(pl.col("metric") == "queue_bytes").group_by("run").agg(pl.col("value").max())
            for got, runs in ((found.utilisation[scheme], used), (found.queue[scheme], most)):
                known = estimate([*runs["value"], *[0.0] * (3 - len(runs))])
                assert got.mean[row, step] == pytest.approx(known.mean, rel=1e-12)
                assert got.half[row, step] == pytest.approx(known.half, rel=1e-9)


def test_a_part_of_the_runs_has_its_own_numbers_and_leaves_the_others_kept(own_dir, keeps):
    whole = numbers(own_dir)
    results = Results(own_dir)
    some = [run.id for run in results.finished[::2]]
    part = results.only(some)
    assert part.aggregates.classes()[ENTRY].unique(maintain_order=True).to_list() == some
    touch(part.finished[0].path / "flows.parquet")
    assert results.only(some).aggregates.whole()[ENTRY].to_list() == some
    assert len(CachedTables(files(own_dir)["flows"], aggregates.reduction.VERSION).load()[0]) == len(results.finished)
    assert numbers(own_dir) == whole


DAMAGE = {
    "empty": lambda data: b"",
    "cut": lambda data: data[: len(data) // 2],
    "no header": lambda data: data[data.index(b"\n") + 1 :],
    "one bit": lambda data: data[:-40] + bytes([data[-40] ^ 1]) + data[-39:],
    "other version": lambda data: data.replace(b'{"version": "', b'{"version": "0', 1),
    "no object": lambda data: b"[]\n" + data,
    "deep": lambda data: b"[" * 200_000,
    "no number": lambda data: data.replace(b'"bytes": ', b'"bytes": "x", "b": ', 1),
    "text": lambda data: b"weft\n" * 100,
}


def test_a_damaged_file_is_written_anew(tmp_path, keeps):
    few = sample.write_results(tmp_path / "few", {"scheme.name": ["ecmp", "spray"]}, seeds=2, flows=60, samples=4)
    fresh = numbers(few)
    before = {name: file.read_bytes() for name, file in files(few).items()}
    for damage, harm in DAMAGE.items():
        for name, file in files(few).items():
            file.write_bytes(harm(before[name]))
        assert numbers(few) == fresh, damage
        assert {name: file.read_bytes() for name, file in files(few).items()} == before, damage


def test_where_nothing_can_be_written_the_numbers_are_the_same(own_dir, keeps):
    fresh = numbers(own_dir)
    shutil.rmtree(own_dir / aggregates.FOLDER)
    # Root may write into any directory, but nobody into a file.
    (own_dir / aggregates.FOLDER).write_text("")
    assert numbers(own_dir) == fresh


def test_a_stopped_reading_keeps_what_it_has_read(own_dir, keeps):
    results = Results(own_dir)

    def stop(what, done, total):
        if what == "Reading flows" and done > total / 2:
            raise KeyboardInterrupt

    results.watch = stop
    with pytest.raises(KeyboardInterrupt):
        summarise(results)
    stamps, _ = CachedTables(files(own_dir)["flows"], aggregates.reduction.VERSION).load()
    assert 0 < len(stamps) < len(results.finished)
    assert summarise(Results(own_dir)).as_dict() == summarise(Results(own_dir)).as_dict()
