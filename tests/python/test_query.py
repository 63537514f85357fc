"""`weft query` and `Results.query`: the views, the outputs, and everything that a query must not do."""

from __future__ import annotations

import csv
import io
import itertools
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import polars as pl
import polars.testing
import pytest

import weft as api
from waiting import PATIENCE_S, cpu_s, until
from weft import Results, aggregates
from weft.errors import QueryError

COUNT = "SELECT scheme, count(*) AS n, sum(bytes) AS bytes, avg(fct_s) AS fct FROM flows WHERE measured GROUP BY ALL"


def test_views_have_the_rows_and_columns_of_the_frames(results):
    flows = results.query("SELECT * FROM flows")
    ours = results.flows(measured=False)
    assert set(flows.columns) == set(ours.columns)
    keys = ["run", "flow"]
    for column in ("scheme", "seed", "point", "traffic_load", "class", "fct_ps", "fct_s", "slowdown", "throughput_bps"):
        one, other = (frame.sort(keys)[column] for frame in (flows, ours))
        # Polars multiplies by the inverse of a constant divisor, with another last digit.
        polars.testing.assert_series_equal(one, other, rel_tol=1e-14, abs_tol=0)
    series = results.query("SELECT run, metric, count(*) AS len FROM series GROUP BY ALL ORDER BY ALL")
    counted = results.series().group_by("run", "metric").len().sort("run", "metric")
    assert series.rows() == counted.rows()
    runs = results.query("FROM runs")
    assert runs["run"].to_list() == [run.id for run in results.finished]
    assert runs["label"].to_list() == [run.label for run in results.finished]


def test_runs_have_their_state_so_that_a_query_can_leave_some_out(own_dir):
    states = {"0000": "growing", "0001": "steady", "0002": "static"}
    for run, state in states.items():
        file = own_dir / "runs" / run / "summary.json"
        file.write_text(json.dumps(json.loads(file.read_text()) | {"steady": {"state": state, "reasons": []}}))
    found = Results(own_dir)
    assert dict(found.query("SELECT run, steady FROM runs").iter_rows()) == {
        run.id: states.get(run.id) for run in found.finished
    }
    page = (Path(__file__).parents[2] / "docs" / "query.md").read_text()
    sql = re.search(r'"(SELECT [^"]*JOIN runs[^"]*)"', page)[1]
    flows = found.flows().filter(pl.col("run").is_in(["0001"]))
    [(scheme, mean)] = found.query(sql).iter_rows()
    assert (scheme, mean) == ("single_path", pytest.approx(flows["fct_s"].mean()))


def test_an_answer_equals_that_of_the_frames(results):
    answer = results.query(f"{COUNT} ORDER BY scheme")
    flows = results.flows().group_by("scheme").agg(pl.len(), pl.col("bytes").sum(), pl.col("fct_s").mean())
    for mine, theirs in zip(answer.rows(), flows.sort("scheme").rows(), strict=True):
        assert mine[:3] == theirs[:3]
        assert mine[3] == pytest.approx(theirs[3])
    assert answer.schema["bytes"] == pl.Int64


def test_the_files_of_runs_that_a_query_excludes_belong_to_the_right_run(results):
    for run in results.finished:
        (row,) = results.query(f"SELECT count(*), max(seed), min(scheme) FROM flows WHERE run = '{run.id}'").rows()
        assert row == (400, run.seed, run.scheme)


def test_without_a_query_the_views_are_listed(weft, sample_dir):
    listed = weft("query", sample_dir)
    assert listed.exit_code == 0, listed.output
    for word in ("flows", "series", "runs", "traffic_load", "slowdown", "time_s", "path_evenness"):
        assert word in listed.stdout


def test_a_table_is_bounded_and_says_so(weft, sample_dir):
    shown = weft("query", sample_dir, "SELECT run, flow FROM flows", "--rows", 3)
    assert shown.exit_code == 0
    assert len(shown.stdout.splitlines()) == 6
    assert "The first 3 rows" in shown.stdout
    assert "18 rows" in weft("query", sample_dir, "SELECT run FROM runs").stdout


def run(*words, **options):
    command = [sys.executable, "-m", "weft", "query", *map(str, words)]
    return subprocess.run(command, capture_output=True, timeout=PATIENCE_S, check=False, **options)


AS_CSV = "SELECT run, flow, 0 / 0 AS none, fct_s FROM flows ORDER BY ALL"
AS_JSON = "SELECT run, 'NaN'::DOUBLE AS none, count(*) AS n FROM flows GROUP BY 1 ORDER BY 1"


def all_rows_are_there(as_csv: bytes, as_json: bytes) -> None:
    assert len(list(csv.DictReader(io.StringIO(as_csv.decode())))) == 18 * 400
    parsed = json.loads(as_json, parse_constant=lambda text: pytest.fail(text))
    assert parsed[0] == {"run": "0000", "none": None, "n": 400}
    assert len(parsed) == 18


def test_a_process_prints_all_rows_as_csv_and_json(sample_dir):
    as_csv, as_json = (run(sample_dir, *words) for words in ((AS_CSV, "--csv"), (AS_JSON, "--json")))
    assert as_csv.returncode == as_json.returncode == 0, as_csv.stderr + as_json.stderr
    all_rows_are_there(as_csv.stdout, as_json.stdout)


@pytest.mark.parametrize("end", ["", ";", " ; -- all of it", "\n-- note"])
def test_all_rows_are_printed_as_csv_and_json(weft, sample_dir, end):
    as_csv, as_json = (
        weft("query", sample_dir, AS_CSV + end, "--csv"),
        weft("query", sample_dir, AS_JSON + end, "--json"),
    )
    assert as_csv.exit_code == as_json.exit_code == 0, as_csv.output + as_json.output
    all_rows_are_there(as_csv.stdout_bytes, as_json.stdout_bytes)


@pytest.mark.parametrize(
    ("option", "name"), [("-o", "x.csv"), ("-o", "x.json"), ("-o", "x.parquet"), ("--parquet", "x")]
)
def test_a_file_has_all_rows(weft, sample_dir, tmp_path, option, name):
    done = weft("query", sample_dir, "SELECT run, flow FROM flows", option, tmp_path / name)
    assert done.exit_code == 0, done.output
    read = {"x.csv": pl.read_csv, "x.json": pl.read_json}.get(name, pl.read_parquet)
    assert len(read(tmp_path / name)) == 18 * 400
    assert list(tmp_path.iterdir()) == [tmp_path / name]


WRONG = [
    ("SELEC 1", 'syntax error at or near "SELEC"'),
    ("SELECT nothing FROM flows", 'column "nothing" not found'),
    ("SELECT * FROM flow", "flow does not exist"),
    ("", "the query is empty"),
    ("/* nothing */", "the query is empty"),
    ("SELECT 1; SELECT 2", "expected one query, found 2"),
    ("SELECT 'a", "unterminated"),
    ("SELECT 1) TO '/tmp/x'; --", "syntax error"),
    ("SELECT sum(class) FROM flows", "sum"),
    ("SELECT CAST('x' AS INTEGER)", "Could not convert"),
    ("\udcff", "surrogates"),
]


@pytest.mark.parametrize(("sql", "message"), WRONG)
@pytest.mark.parametrize("output", [(), ("--csv",), ("--json",)])
def test_a_wrong_query_shows_the_message_of_duckdb(weft, sample_dir, sql, message, output):
    done = weft("query", sample_dir, sql, *output)
    assert done.exit_code == 2
    assert message in done.stderr
    assert "Traceback" not in done.output
    assert not done.stdout


def test_an_unknown_table_has_the_views_as_hint(weft, sample_dir):
    done = weft("query", sample_dir, "SELECT * FROM links")
    assert "try: the views are flows, series and runs" in done.stderr


@pytest.fixture(scope="module")
def columns(results):
    """The columns of each view."""
    return {view: results.query(f"SELECT * FROM {view} LIMIT 1").columns for view in ("flows", "series", "runs")}


@pytest.mark.parametrize("output", [(), ("--csv",), ("--json",)])
@pytest.mark.parametrize(
    ("sql", "views"),
    [
        ("SELECT nosuch FROM flows", ["flows"]),
        ("SELECT * EXCLUDE (nosuch) FROM flows", ["flows"]),
        ("SELECT r.nosuch FROM Runs r JOIN series USING (run)", ["series", "runs"]),
        ("SELECT scheme FROM (SELECT run, fct_s FROM flows)", ["flows"]),
    ],
)
def test_an_unknown_column_has_the_columns_of_the_views_as_hint(weft, sample_dir, columns, sql, views, output):
    done = weft("query", sample_dir, sql, *output)
    assert done.exit_code == 2
    said = done.stderr.partition("try: ")[2]
    for view, names in columns.items():
        assert (f"the columns of {view} are {', '.join(names)}" in " ".join(said.split())) == (view in views), said


def test_a_table_that_is_not_in_the_query_has_the_views_as_hint(weft, sample_dir):
    assert "try: the views are flows, series and runs" in weft("query", sample_dir, "SELECT x.y FROM flows").stderr


@pytest.mark.parametrize(
    ("sql", "named"),
    [
        ("INSTALL httpfs", "INSTALL"),
        ("/* a */ load httpfs", "LOAD"),
        ("CHECKPOINT", "CHECKPOINT"),
        ("CALL pragma_version()", "CALL"),
        ("WITH a AS (FROM flows) DELETE FROM runs", "DELETE"),
        ("SET threads = 1", "SET"),
        ("CREATE TABLE t AS FROM flows", "CREATE"),
        ("UPDATE EXTENSIONS", "UPDATE"),
    ],
)
def test_a_statement_that_is_not_allowed_is_named(weft, sample_dir, sql, named):
    done = weft("query", sample_dir, sql)
    assert done.exit_code == 2
    assert f"this statement ({named}) is not allowed" in done.stderr


HARMFUL = [
    "FROM read_text('/etc/passwd')",
    "FROM read_csv('/etc/passwd')",
    "FROM read_blob('{dir}/scenario.toml')",
    "FROM read_text('{dir}/runs/../sweep.json')",
    "FROM '/etc/passwd'",
    "FROM glob('/etc/*')",
    "FROM sniff_csv('/etc/passwd')",
    "FROM parquet_metadata('/etc/passwd')",
    "FROM 'http://127.0.0.1:9/x.parquet'",
    "COPY flows TO '{new}'",
    "COPY (SELECT 1 AS x) TO '{flows}' (USE_TMP_FILE false)",
    "WITH t AS (COPY (SELECT 1 AS x) TO '{flows}' (USE_TMP_FILE false)) FROM t",
    "WITH t AS (COPY (SELECT 1 AS x) TO '{flows}' (FORMAT parquet, USE_TMP_FILE false)) SELECT * FROM t",
    "SELECT (WITH t AS (COPY (SELECT 1 AS x) TO '{flows}' (USE_TMP_FILE false)) SELECT count(*) FROM t)",
    "WITH t AS (DELETE FROM all_runs RETURNING *) FROM t",
    "EXPLAIN ANALYZE COPY (SELECT 1 AS x) TO '{flows}' (USE_TMP_FILE false)",
    "FROM query('COPY flows TO ''{new}''')",
    "EXPORT DATABASE '{new}'",
    "ATTACH '{new}'",
    "SET enable_external_access = true",
    "SET memory_limit = '100GB'",
    "PRAGMA enable_profiling",
    "CALL enable_logging(storage = 'file', storage_config = {{'path': '{new}'}})",
    "FROM enable_logging(storage = 'file', storage_config = {{'path': '{new}'}})",
    "FROM enable_profiling(save_location = '{new}')",
    "INSTALL httpfs",
    "LOAD httpfs",
    "CREATE TABLE t AS SELECT 1",
    "DROP VIEW flows",
    "DELETE FROM all_runs",
    "INSERT INTO all_runs FROM all_runs",
    "SELECT 1; COPY flows TO '{new}'",
    "SELECT 1) ; COPY flows TO '{new}'; SELECT * FROM (SELECT 1",
]


@pytest.mark.parametrize("statement", HARMFUL)
def test_a_query_neither_writes_nor_reads_anything_else(own_dir, tmp_path, statement):
    found = Results(own_dir)
    flows, new = (found.finished[0].path / "flows.parquet").resolve(), tmp_path / "new"
    before = {path: path.read_bytes() for path in own_dir.rglob("*") if path.is_file()}
    sql = statement.format(dir=own_dir.resolve(), flows=flows, new=new)
    with pytest.raises(QueryError):
        found.query(sql)
    assert {path: path.read_bytes() for path in own_dir.rglob("*") if path.is_file()} == before
    assert not new.exists()


def test_variables_of_the_program_are_no_tables(results):
    secret = pl.DataFrame({"x": [1]})
    with pytest.raises(QueryError, match="secret does not exist"):
        results.query("FROM secret")
    assert len(secret) == 1


@pytest.mark.parametrize("words", [("--csv", "--json"), ("--csv", "-o", "x.csv"), ("-o", "x.txt"), ("-o", "no/x.csv")])
def test_outputs_that_cannot_be_are_refused(weft, sample_dir, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    done = weft("query", sample_dir, "FROM runs", *words)
    assert done.exit_code == 2
    assert "error" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_failed_query_leaves_an_existing_file(weft, sample_dir, tmp_path):
    (tmp_path / "x.csv").write_text("precious")
    assert (
        weft("query", sample_dir, "SELECT CAST(run || 'x' AS INTEGER) FROM flows", "-o", tmp_path / "x.csv").exit_code
        == 2
    )
    assert (tmp_path / "x.csv").read_text() == "precious"
    assert [path.name for path in tmp_path.iterdir()] == ["x.csv"]


def test_a_reader_that_stops_ends_the_query(sample_dir):
    command = f"{sys.executable} -m weft query '{sample_dir}' 'FROM flows, range(1000)' --csv | head -1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, timeout=PATIENCE_S, check=False)
    assert done.stdout.startswith(b"run,")
    assert not done.stderr


ENDLESS = "SELECT count(*) FROM flows a, flows b, flows c WHERE a.fct_s + b.fct_s > c.fct_s"


@pytest.mark.parametrize("output", [(), ("--csv",)])
def test_ctrl_c_ends_a_query_and_leaves_nothing(sample_dir, tmp_path, output):
    command = [sys.executable, "-m", "weft", "query", str(sample_dir), ENDLESS, *output]
    process = subprocess.Popen(command, env=os.environ | {"TMPDIR": str(tmp_path)}, stderr=subprocess.PIPE)
    until("the query has its scratch directory", lambda: list(tmp_path.glob("weft-query-*")))
    before = cpu_s(process.pid)
    until("the query is under way", lambda: cpu_s(process.pid) > before + 0.4)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130
    assert b"Traceback" not in said
    assert list(tmp_path.iterdir()) == []


def test_unfinished_results_can_be_queried(tmp_path):
    import sample

    found = Results(sample.write_results(tmp_path / "r", missing=5, seeds=2, flows=50, samples=4))
    assert found.query("SELECT count(*) FROM runs").item() == 7
    with pytest.raises(api.ResultsError, match="no finished run"):
        found.only([]).query("FROM runs")
    (found.finished[0].path / "series.parquet").unlink()
    with pytest.raises(api.ResultsError, match="is missing"):
        found.query("FROM runs")


def test_scratch_files_are_removed(results, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    results.query("FROM runs")
    assert list(Path(tmp_path).iterdir()) == []
    assert aggregates.FOLDER not in [path.name for path in results.path.iterdir()]


def test_the_examples_of_the_page_run(weft, sample_dir, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = (Path(__file__).parents[2] / "docs/query.md").read_text()
    (block,) = re.findall(r"^```sh\n(.*?)^```$", page, re.S | re.M)
    commands = shlex.split(block.replace("results/quickstart", str(sample_dir)), comments=True)
    starts = [at for at, word in enumerate(commands) if word == "weft"] + [len(commands)]
    assert len(starts) > 5
    for begin, end in itertools.pairwise(starts):
        done = weft(*commands[begin + 1 : end])
        assert done.exit_code == 0, done.output
    assert len(pl.read_parquet("largest.parquet")) > 18
