"""The output of commands that read results: tables, errors, exit codes."""

from __future__ import annotations

import errno
import itertools
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest
import typer

import sample
from tiny import TINY
from weft.cli import app, registry, shell
from weft.cli.help_pages import _joined
from weft.emulation import sweep
from weft.errors import OutputError, ResultsError
from weft.metrics import METRICS
from weft.results import Results
from weft.scenario import Scenario

TOP = typer.main.get_command(app).commands
COMMANDS = [name for name, command in TOP.items() if not hasattr(command, "commands") and not command.hidden]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_examples(weft, command):
    result = weft(command, "--help")
    assert result.exit_code == 0
    assert "Example" in result.output
    assert f"weft {command}" in result.output


def commands(group, *above):
    """The words of every command, those that have commands themselves included."""
    for name, command in group.commands.items():
        yield (*above, name)
        yield from commands(command, *above, name) if hasattr(command, "commands") else ()


@pytest.mark.parametrize("words", list(commands(typer.main.get_command(app))), ids=" ".join)
def test_the_examples_of_every_command_are_indented(weft, monkeypatch, words):
    monkeypatch.setenv("COLUMNS", "200")
    text = weft(*words, "--help").stdout
    for examples in re.split(r"\n Examples? *\n", text.partition("╭")[0])[1:]:
        assert all(re.match(r"   \S", line) for line in examples.splitlines() if line.strip()), text


def test_without_a_command_the_commands_are_listed(weft):
    result = weft()
    assert all(command in result.output for command in COMMANDS)


def test_the_version_is_printed(weft):
    assert weft("--version").output.startswith("weft 0.")


def test_the_summary_shows_means_intervals_and_differences(weft, sample_dir, monkeypatch):
    monkeypatch.setenv("COLUMNS", "140")
    result = weft("summary", sample_dir, "--baseline", "ecmp")
    assert result.exit_code == 0
    title, above, head, *_ = (line.rstrip() for line in result.stdout.splitlines())
    assert title == "load 0.2"
    assert head.split("  ")[0] == "Class"
    parts = [
        text.partition(" per ") for text in ("Flows per run", *(metric.title for metric in METRICS if not metric.rare))
    ]
    assert above.split() == [what for what, per, _ in parts if per], "a count per run has two header lines"
    assert [h.strip() for h in head.split("  ") if h][2:] == [f"per {run}" if per else what for what, per, run in parts]
    text = result.stdout
    assert "single_path" in text
    assert "±" in text
    assert re.search(r"0\.667 .*\n.*unfinished", text), "two in three runs"
    assert re.search(r"±\d+\.\d+ [mµ]s", text), "with its unit"
    assert "One value per run, averaged over 3 seeds" in text
    assert "difference from ecmp" in " ".join(text.split())
    assert re.search(r" \+12\.\d points", text), "a share against none"
    assert "n.s." in text


@pytest.mark.parametrize(("columns", "tables"), [(140, 1), (80, 2), (60, 4)])
def test_a_narrow_terminal_gets_several_tables_and_no_number_is_cut(weft, sample_dir, monkeypatch, columns, tables):
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = weft("summary", sample_dir).stdout.splitlines()
    assert sum("Scheme" in line for line in lines) == 2 * tables
    assert sum("Mean FCT" in line for line in lines) == 2
    assert sum("Drops" in line for line in lines) == 2
    assert max(map(len, lines)) <= columns
    assert not any("…" in line for line in lines)


def test_profiles_side_by_side_are_not_cut_on_a_narrow_terminal(weft, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    text = weft("list", "profiles").stdout
    for whole in ("131.072 kB", "0.700195", "lowest-rtt", "timestamps"):
        assert whole in text
    assert max(map(len, text.splitlines())) <= 60


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("command", [["controller"], ["tag-forward", "provision"], ["reproduce"]], ids=" ".join)
def test_paragraphs_of_the_help_break_only_where_the_line_is_full(weft, monkeypatch, command, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    shown = weft(*command, "--help").stdout
    paragraphs = [line.strip() for line in shown.split("Examples")[0].splitlines() if line.strip()]
    for line, after in itertools.pairwise(paragraphs[1:]):
        assert len(f"{line} {after.split()[0]}") > columns - 2 or line.endswith("."), line


def test_indented_lines_of_the_help_stay_apart():
    assert _joined("One\ntwo\nthree:\n\n  a\n  b\nfour\nfive\n") == "One two three:\n\n\n  a\n  b\nfour five\n"


def test_the_hint_about_a_full_disk_replaces_no_other(monkeypatch):
    def hint_of(error):
        def raise_it():
            raise error

        failures = []
        monkeypatch.setattr(shell, "fail", lambda _, hint, code: failures.append((hint, code)) or typer.Exit(code))
        with pytest.raises(typer.Exit):
            shell.guarded(raise_it)()
        ((hint, code),) = failures
        assert code == shell.BAD_INPUT
        return hint

    full = OutputError("x")
    full.__cause__ = OSError(errno.ENOSPC, "y")
    assert hint_of(full) == hint_of(OutputError("x", disk_full=True)) == shell.disk_full_hint()
    assert hint_of(OutputError("x", "another", disk_full=True)) == hint_of(ResultsError("x", "another")) == "another"
    assert hint_of(OutputError("x")) is None


def test_flags_are_shown_without_a_type(weft):
    for command in ([], ["run"], ["controller"], ["tag-forward"]):
        text = weft(*command, "--help").stdout
        assert "--help" in text
        assert "bool" not in text


def test_a_link_that_is_slower_one_way_is_one_link(weft, tmp_path):
    path = tmp_path / "asymmetric.toml"
    hosts = '[[node]]\nname = "h0"\nrole = "host"\n[[node]]\nname = "h1"\nrole = "host"\n'
    path.write_text(
        f'{hosts}[[link]]\nbetween = ["h0", "h1"]\nrate = "100 Mbps"\nrate_back = "20 Mbps"\n'
        '[[link]]\nbetween = ["h0", "h1"]\nrate = "20 Mbps"\nrate_back = "100 Mbps"\n'
        '[[link]]\nbetween = ["h0", "h1"]\nrate = "100 Mbps"\n'
    )
    line = next(line for line in weft("fabric", path).stdout.splitlines() if line.startswith("links"))
    assert "3: 2 of 100 Mbps, 1.00 µs one way and 20.0 Mbps, 1.00 µs back; 1 of 100 Mbps, 1.00 µs" in line


def test_links_of_more_than_six_kinds_are_all_counted(weft, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    path = tmp_path / "kinds.toml"
    link = '[[link]]\nbetween = ["h0", "h1"]\nrate = "{} Gbps"\n'
    nodes = '[[node]]\nname = "h0"\nrole = "host"\n[[node]]\nname = "h1"\nrole = "host"\n'
    for last, said in (
        ([8, 9], "3 links of 2 other kinds"),
        ([8], "2 links of 1 other kind"),
        ([], "; 2 of 6.00 Gbps, 1.00 µs"),
    ):
        path.write_text(nodes + "".join(map(link.format, [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, *last, *last[:1]])))
        line = next(line for line in weft("fabric", path).stdout.splitlines() if line.startswith("links"))
        assert line.rstrip().endswith(said)


def test_what_a_fabric_file_says_in_vain_is_said_once(weft, tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("3 1 2\n0\n0 1 100Gbps 1us 0\n0 2 100Gbps 1us 0\n\nThe first line has nodes, switches, links\n")
    said = "notes.txt: not read from line 6 on: the first line says 2 links"
    assert weft("fabric", path).stderr.count(said) == 1
    assert json.loads(weft("fabric", path, "--json").stdout)["links"]
    mine = tmp_path / "mine.toml"
    mine.write_text(
        '[fabric]\nfile = "notes.txt"\n[traffic]\npairs = "permutation"\narrivals = "at-once"\nflows = 2\n'
        'sizes = { fixed = "1 kB" }\n[sweep]\n"scheme.name" = ["ecmp", "spray"]\n"fabric.queue" = ["9 kB", "20 kB"]\n'
    )
    assert weft("fabric", mine).stderr.count(said) == 1
    assert weft("check", mine).stderr.count(said) == 1
    assert weft("run", mine, "-o", tmp_path / "out").stderr.count(said) == 1


def test_a_byte_order_mark_is_no_part_of_a_fabric_or_scenario(weft, tmp_path):
    text = (
        '[[node]]\nname = "h0"\nrole = "host"\n[[node]]\nname = "h1"\nrole = "host"\n[[link]]\nbetween = "h0-h1"\n',
        TINY,
    )
    for number, content in enumerate(text):
        path = tmp_path / f"{number}.toml"
        path.write_text(content, encoding="utf-8-sig")
        assert weft("fabric", path).exit_code == 0


def test_one_seed_says_that_there_is_no_interval(weft, tmp_path):
    directory = sample.write_results(tmp_path / "r", {"scheme.name": ["ecmp"]}, seeds=1, flows=60, samples=4)
    text = weft("summary", directory).stdout
    assert "±" not in text
    assert "One seed: no confidence intervals" in text


def test_the_summary_as_json_has_intervals_and_differences(weft, sample_dir):
    data = json.loads(weft("summary", sample_dir, "--baseline", "ecmp", "--json").stdout)
    assert data["by"] == ["traffic.load", "class", "scheme"]
    row = next(r for r in data["rows"] if r["scheme"] == "spray")
    assert row["metrics"]["mean_fct_s"].keys() == {"mean", "low", "high", "difference", "ratio", "p", "p_adjusted"}
    assert row["metrics"]["mean_fct_s"]["difference"]["high"] < 0


RING = """
[fabric]
kind = "ring"
switches = 5
hosts_per_switch = 2
rate = "10 Gbps"
delay = "1 us"
buffer = "200 kB"
pfc = {}
[traffic]
flow_list = [%s]
[transport]
protocol = "roce"
congestion_control = "off"
[scheme]
name = "ecmp"
[run]
duration = "20 ms"
limit = "50 ms"
[measure]
interval = "1 ms"
"""


@pytest.mark.parametrize("quiet", [[], ["--quiet"]])
def test_a_deadlock_is_said_by_run_and_by_summary(weft, tmp_path, quiet):
    """All hosts of a ring send two hops clockwise without losses: each queue waits for the next one."""
    flows = ", ".join(f'{{ src = "h{n}", dst = "h{(n + 4) % 10}", bytes = "5 MB" }}' for n in range(10))
    (tmp_path / "ring.toml").write_text(RING % flows)
    for command in (["run", tmp_path / "ring.toml", "-o", tmp_path / "out", *quiet], ["summary", tmp_path / "out"]):
        done = weft(*command)
        assert done.exit_code == 0, done.stderr
        assert done.stderr.count("warning: deadlock of flow control at ") == 1, done.stderr


def test_missing_runs_are_warned_of(weft, tmp_path):
    directory = sample.write_results(tmp_path / "r", missing=2, seeds=1, flows=40, samples=4)
    result = weft("summary", directory)
    assert result.exit_code == 0
    assert "2 of 6 runs have not finished; the table omits them" in result.stderr
    directory = sample.write_results(tmp_path / "one", missing=1, seeds=1, flows=40, samples=4)
    assert "1 of 6 runs has not finished; the table omits it" in weft("summary", directory).stderr


@pytest.mark.parametrize("garbage", [b"scheme [[", bytes(range(128, 256))])
def test_a_report_says_that_the_scenario_of_its_results_is_none(weft, tmp_path, garbage):
    directory = sample.write_results(tmp_path / "r", seeds=1, flows=40, samples=4)
    (directory / "scenario.toml").write_bytes(garbage)
    result = weft("report", directory)
    assert result.exit_code == 2
    assert "scenario.toml is not the scenario that was run: " in result.stderr
    assert "try: copy that scenario there" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["summary", "nothere"], "error: nothere does not exist: give the directory that `weft run -o` wrote"),
        (["report", "."], "is not a result directory"),
        (["plot", "nothere"], "nothere does not exist"),
        (["reproduce", "nope"], "error: unknown study `nope`\n  try: one of ai-cluster, collectives"),
        (["run", "nothere.toml"], "error: nothere.toml: No such file or directory"),
        (["run", "."], "error: . is a directory, not a scenario file\n  try: `weft new mine.toml`, then"),
        (["check", "."], "error: . is a directory, not a scenario file"),
        (["fabric", "nothere.graphml"], "nothere.graphml"),
    ],
)
def test_bad_input_ends_with_a_message_and_exit_code_2(weft, arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = weft(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.output
    assert list(tmp_path.iterdir()) == []


def test_a_directory_instead_of_a_scenario_is_answered_with_what_to_type(weft, own_dir, tmp_path):
    result = weft("run", own_dir)
    assert result.exit_code == 2
    assert f"{own_dir} is a result directory, not a scenario file" in result.stderr
    assert f"weft run {own_dir}/scenario.toml -o {own_dir}" in result.stderr
    (tmp_path / "b.toml").write_text("")
    (tmp_path / "a.toml").write_text("")
    assert f"try: weft run {tmp_path}/a.toml" in weft("run", tmp_path).stderr


def test_an_unknown_baseline_column_or_format_is_refused(weft, sample_dir, tmp_path):
    for arguments, message in (
        (["summary", sample_dir, "--baseline", "conga"], "no scheme `conga`"),
        (["summary", sample_dir, "--by", "foo"], "these results have traffic.load, scheme, class, point"),
        (
            ["plot", sample_dir, "-o", tmp_path / "f", "--format", "docx"],
            "cannot write figures as `docx`: choose from pdf",
        ),
        (["plot", sample_dir, "-o", tmp_path / "f", "--format", ""], "cannot write figures as ``: choose from pdf"),
        (["plot", sample_dir, "-o", tmp_path / "f", "--format", ","], "cannot write figures as ``: choose from pdf"),
        (["report", sample_dir, "-o", tmp_path / "r.html", "--baseline", "conga"], "no scheme `conga`"),
    ):
        result = weft(*arguments)
        assert (result.exit_code, message in result.stderr) == (2, True), result.output
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("file", ["flows.parquet", "series.parquet"])
@pytest.mark.parametrize("command", ["summary", "report", "why", "plot"])
def test_a_damaged_result_file_is_named_with_its_run_and_the_remedy(weft, engine_results, tmp_path, command, file):
    own = Results(Path(shutil.copytree(engine_results.path, tmp_path / "own")))
    run = own.finished[2]
    path = run.path / file
    path.write_bytes(path.read_bytes()[:-20])
    result = weft(command, own.path)
    if result.exit_code == 0:
        assert (command, file) in [("summary", "series.parquet"), ("why", "series.parquet")], "that file is not read"
        return
    assert result.exit_code == 2 and "Traceback" not in result.output
    assert f"{path} is damaged (" in result.stderr
    assert f"it belongs to the run {run.label}, seed {run.seed}" in result.stderr
    assert f"try: delete {run.path}, then weft run" in result.stderr
    shutil.rmtree(run.path)
    again = result.stderr.partition(", then weft ")[2]
    assert weft(*shlex.split(again), "--quiet").exit_code == 0
    assert weft(command, own.path).exit_code == 0


@pytest.mark.parametrize("command", ["summary", "report", "plot"])
def test_a_summary_of_a_run_without_its_contents_is_named(weft, own_dir, command):
    path = own_dir / "runs" / "0002" / "summary.json"
    path.write_text('{"a":1}')
    result = weft(command, own_dir)
    assert result.exit_code == 2, result.output
    assert f"{path} is damaged (no `scheme` in it): it belongs to the run " in result.stderr
    assert f"try: delete {path.parent}, then weft run {own_dir / 'scenario.toml'} -o {own_dir}" in result.stderr


def test_the_report_says_where_it_is(weft, sample_dir, tmp_path):
    result = weft("report", sample_dir, "-o", tmp_path / "page.html")
    assert result.exit_code == 0
    assert (tmp_path / "page.html").stat().st_size > 1_000_000
    assert "MB): open it in a browser." in result.stderr


@pytest.mark.parametrize(
    "lines",
    [
        (
            "run tiny.toml -o r --set traffic.load=1 --set name=a --seeds 4 --jobs 2 --threads 3 --baseline ecmp"
            " --plugin mine --quiet --capture flow:1 --capture-dir c --capture-limit 1MB",
            "run tiny.toml --dask local:2 --quick",
        ),
        (
            "reproduce packet-spraying --emulated --size paper -o r --jobs 2 --threads 3 --json",
            "reproduce packet-spraying --size quick --dask local:2",
        ),
    ],
)
def test_after_ctrl_c_the_command_is_repeated_with_every_option(weft, tiny, monkeypatch, lines):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.chdir(tiny.parent)
    monkeypatch.setattr(Scenario, "execute", interrupted)
    # Whether this machine can emulate is checked before anything runs; modules are loaded and clusters opened.
    monkeypatch.setattr(sweep, "check", lambda _: [])
    monkeypatch.setattr("weft.cli.plugin.load", lambda *_, **__: None)
    for command in ("run", "reproduce"):
        monkeypatch.setattr(f"weft.cli.{command}.connected", lambda *_: nullcontext())
    for line in lines:
        result = weft(*line.split())
        assert result.exit_code == 130
        assert result.stderr.splitlines()[-1] == f"  weft {line}"
    given = {word for line in lines for word in line.split()}
    command = typer.main.get_command(app).commands[lines[0].split()[0]]
    options = [p for p in command.params if p.param_type_name == "option"]
    assert [option.name for option in options if not given & set(option.opts)] == []


@pytest.mark.parametrize("line", ["run tiny.toml -o r", "reproduce packet-spraying -o r"])
def test_sigterm_stops_a_sweep_as_ctrl_c_does(weft, tiny, monkeypatch, line):
    def terminated(*_, **__):
        os.kill(os.getpid(), signal.SIGTERM)
        raise AssertionError("the signal did not stop the command")

    monkeypatch.chdir(tiny.parent)
    monkeypatch.setattr(Scenario, "execute", terminated)
    before = signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        result = weft(*line.split())
        assert signal.getsignal(signal.SIGTERM).__name__ == "<lambda>", "the handler of before is back"
    finally:
        signal.signal(signal.SIGTERM, before)
    assert result.exit_code == 143, result.output
    said = result.stderr.splitlines()
    assert said[-2].startswith("Stopped: ") and said[-2].endswith("To resume:")
    assert said[-1].startswith(f"  weft {' '.join(line.split()[:2])}")


def test_the_commands_to_type_next_are_found_as_they_are_printed(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    for called, typed in (
        (".venv/bin/weft", ".venv/bin/weft plot 'my results'"),
        ("/some where/weft", "'/some where/weft' plot 'my results'"),
        ("/lib/weft/__main__.py", f"{shlex.quote(sys.executable)} -m weft plot 'my results'"),
        ("/usr/bin/pytest", "weft plot 'my results'"),
    ):
        monkeypatch.setattr("sys.argv", [called])
        assert shell.typed("plot", "my results") == typed
    (tmp_path / "weft").touch(mode=0o755)
    assert shell.typed("plot", "my results") == "weft plot 'my results'"


def test_a_run_without_a_terminal_says_at_once_that_it_began(tiny, tmp_path):
    command = [sys.executable, "-m", "weft", "run", str(tiny), "-o", str(tmp_path / "r")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr.splitlines()[0] == "tiny: 4 runs"
    assert f"-m weft report {tmp_path / 'r'}" in done.stderr or f"  weft report {tmp_path / 'r'}" in done.stderr


@pytest.mark.parametrize("arguments", [["--baseline", "spray"], ["--set", 'measure.baseline="spray"'], []])
def test_a_baseline_is_suggested_only_where_there_is_none(weft, tiny, tmp_path, arguments):
    result = weft("run", tiny, "-o", tmp_path / "r", *arguments)
    assert ("--baseline" in result.stderr) == (arguments == [])


def test_the_default_directory_is_that_of_the_help(weft, tiny, monkeypatch):
    monkeypatch.chdir(tiny.parent)
    tiny.rename("other.toml")
    assert weft("run", "other.toml", "-q").exit_code == 0
    assert (tiny.parent / "results" / "other" / "sweep.json").is_file()
    assert "results/NAME for NAME.toml" in " ".join(weft("run", "--help").stdout.replace("│", " ").split())


@pytest.mark.parametrize("output", ["", "--json"])
def test_a_reader_that_stops_early_is_no_error(sample_dir, output):
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as closed:
        command = [sys.executable, "-m", "weft", "summary", sample_dir, *output.split()]
        done = subprocess.run(command, stdout=closed, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_starters_are_written_once(weft, tmp_path):
    for starter in ("fat-tree", "spine-leaf", "own-fabric"):
        path = tmp_path / f"{starter}.toml"
        assert weft("new", path, "--from", starter).exit_code == 0
        assert f'name = "{starter}"' in path.read_text()
        again = weft("new", path, "--from", starter)
        assert again.exit_code == 2
        assert "already exists" in again.stderr
    assert 'file = "own-fabric.fabric.toml"' in (tmp_path / "own-fabric.toml").read_text()


@pytest.mark.parametrize(
    "arguments",
    ["--version", "check quickstart.toml", "fabric quickstart.toml", "schemes", "list profiles", "explore --help"],
)
def test_a_command_that_neither_draws_nor_reads_results_imports_nothing_that_takes_long(arguments, monkeypatch):
    monkeypatch.chdir(Path(__file__).parents[2] / "scenarios")
    script = (
        "import sys\nfrom weft.cli import main\ntry:\n    main()\nexcept SystemExit as end:\n    assert not end.code\n"
        "slow = {'polars', 'numpy', 'scipy', 'vl_convert', 'PIL', 'networkx', 'aiohttp'} & set(sys.modules)\n"
        "assert not slow, slow"
    )
    command = [sys.executable, "-c", script, *arguments.split()]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_run_without_a_baseline_imports_neither_libraries_of_tables_nor_other_commands(tiny, tmp_path):
    script = (
        "import sys\nfrom weft.cli import main\ntry:\n    main()\nexcept SystemExit as end:\n    assert not end.code\n"
        "print('imported:', *sys.modules)"
    )
    options = ["--seeds", "1", "--jobs", "1", "--threads", "1"]
    command = [sys.executable, "-c", script, "run", str(tiny), "-o", str(tmp_path / "results"), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    table, _, modules = done.stdout.partition("imported:")
    assert "Mean FCT" in table
    imported = set(modules.split())
    libraries = {"polars", "numpy", "scipy", "pydantic", "asyncio", "aiohttp", "duckdb", "vl_convert", "tomllib"}
    commands = {f"weft.cli.{entry.module}" for entry in registry.ENTRIES.values()} - {"weft.cli.run", "weft.cli.show"}
    own = {f"weft.{name}" for name in ("results", "aggregates", "rows", "query", "reporting", "figures", "topology")}
    assert not imported & (libraries | commands | own)


@pytest.mark.parametrize(
    ("baseline", "said"),
    [
        ("nonsense profile=dctcp", "the baseline `nonsense profile=dctcp` is not one of this scenario's schemes"),
        ("cubic", "no value `cubic` of transport.profile in this scenario"),
    ],
)
def test_a_baseline_that_a_compared_key_does_not_have_is_refused_before_the_runs(weft, tmp_path, baseline, said):
    path = tmp_path / "two.toml"
    sweep = '[sweep]\n"transport.profile" = ["linux", "dctcp"]\n"traffic.load" = [0.2, 0.4]\n'
    path.write_text(TINY.partition("[sweep]")[0] + sweep)
    refused = weft("run", path, "-o", tmp_path / "results", "--baseline", baseline)
    assert refused.exit_code != 0
    assert said in " ".join(refused.stderr.split())
    assert not (tmp_path / "results").exists()


def test_the_scenarios_of_the_package_are_copied_and_files_with_changes_stay(weft, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    missing = weft("check", "scenarios/quickstart.toml")
    assert missing.exit_code == 2
    assert "try: `weft scenarios` copies Weft's scenarios here" in missing.stderr
    assert "weft scenarios" not in weft("check", "scenarios/other.toml").stderr
    done = weft("scenarios")
    assert done.exit_code == 0
    assert "scenarios/smoc/topology1.fabric.toml" in done.stdout.split()
    assert weft("check", "scenarios/smoc.toml").exit_code == 0
    (tmp_path / "scenarios" / "incast.toml").unlink()
    assert weft("scenarios").exit_code == 0
    assert (tmp_path / "scenarios" / "incast.toml").is_file()
    (tmp_path / "scenarios" / "smoc.toml").write_text("mine")
    (tmp_path / "scenarios" / "incast.toml").unlink()
    refused = weft("scenarios")
    assert (refused.exit_code, "smoc.toml exists and differs" in refused.stderr) == (2, True)
    assert (tmp_path / "scenarios" / "smoc.toml").read_text() == "mine"
    assert not (tmp_path / "scenarios" / "incast.toml").exists()
