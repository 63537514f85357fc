"""Wrong inputs of a new user: every message says what is wrong and what to type instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from weft.errors import ScenarioError
from weft.scenario import Scenario

BASE = """
[fabric]
kind = "fat-tree"
k = 4
rate = "10 Gbps"

[traffic]
sizes = "web-search"
load = 0.4

[scheme]
name = "ecmp"

[run]
duration = "10 ms"
"""

SETS = [
    # Names of other tools.
    ("fabric.kind=leaf-spine", ["`fabric.kind` cannot be `leaf-spine`", "called `spine-leaf` here"]),
    ("fabric.kind=fattree", ["did you mean `fat-tree`?"]),
    ("fabric.kind=torus", ["expected one of `fat-tree`, `spine-leaf`"]),
    ("scheme.name=flowlet", ["`letflow` (random), `conga` (by load) or `clove` (at hosts)"]),
    ("scheme.name=rps", ["called `spray` here"]),
    ("scheme.name=ECMP", ["did you mean `ecmp`?"]),
    ("scheme.name=valiant", ["expected one of `adaptive`", "a scheme of your own needs --plugin"]),
    ("scheme=spray", ["`scheme` is the string", 'scheme.name = "spray"']),
    ("scheme.gap=100 us", ["no parameter `gap`", "belongs to `clove`, `conga`, `hula`, `letflow`"]),
    ("transport.profile=cubic", ['write congestion_control = "cubic"']),
    ("transport.congestion_control=linux", ['write profile = "linux"']),
    ("transport.congestion_control=dcqcn", ['write protocol = "roce"']),
    ("transport.congestion_control=bbr", ["expected one of `reno`, `cubic`, `dctcp`", "--plugin"]),
    ("transport.protocol=rdma", ["called `roce` here"]),
    ("transport.protocol=mptcp", ['protocol = "tcp" with mptcp = "ndiffports"']),
    ("transport.cc=cubic", ["did you mean `congestion_control`?"]),
    ("traffic.collective=allreduce", ["`ring-all-reduce`", "remove it: all flows of [traffic] come from `collective`"]),
    # Keys and sections.
    ("traffic.laod=0.6", ["--set traffic.laod=0.6", "did you mean `load`?"]),
    ("fabrik.k=4", ["unknown section [fabrik]", "did you mean `fabric`?"]),
    ("load=0.5", ["a key of [traffic]", "traffic.load"]),
    ("k=4", ["a key of [fabric]", "fabric.k"]),
    ("fabric.spines=4", ['a fabric of kind "fat-tree" has no `spines`', "belongs to `spine-leaf`"]),
    ('fabric={kind="spine-leaf",spines=0,leaves=2,hosts_per_leaf=2}', ["needs at least 1 spine, not 0"]),
    ('fabric={kind="ring",switches=1,hosts_per_switch=1}', ["needs at least 3 switches, not 1"]),
    ("scheme.nmae=ecmp", ["the scheme `ecmp` has no parameter `nmae`", "did you mean `name`?"]),
    ("measure.baseline=load=0.2", ["`load` is not swept: the swept keys are none"]),
    ("fabric.bandwidth=10 Gbps", ["did you mean `rate`?"]),
    ("run.seed=3", ["did you mean `seeds`?"]),
    ("run.time=10 ms", ["did you mean `duration`?"]),
    ("sweep.traffic.laod=[0.1]", ["unknown key `laod`", "did you mean `load`?"]),
    ("sweep.scheme.name=[]", ["has no values", "at least one value"]),
    ("sweep.traffic.load=0.5", ["not a list", "such as [0.2, 0.4]"]),
    ("traffic.load", ["expected KEY=VALUE", "traffic.load=0.4"]),
    ("traffic.load=", ["the value is missing"]),
    ("=4", ["the key is missing"]),
    # Numbers, units and types.
    ("traffic.load=50", ["a load is a fraction: for 50 % write 0.5"]),
    ('traffic.load="40%"', ["without quotes: 0.4"]),
    ("traffic.load=-1", ["`traffic.load` is -1", "a fraction above 0"]),
    ("traffic.sizes=10 kB", ['{ fixed = "10 kB" }']),
    ("traffic.flows=-1", ["it is negative"]),
    ("fabric.k=5", ["an even number of ports", "try 4 or 6"]),
    ('fabric.k="4"', ["write it without quotes: 4"]),
    ("fabric.k=1e3", ["without a fraction and an exponent: 1000"]),
    ("fabric.rate=10", ["the unit is missing", '"10 Gbps"']),
    ("fabric.rate=10 GB/s", ["unknown unit `GB/s`", "Gbps"]),
    ("fabric.queue=100", ["the unit is missing", '"100 packets"']),
    ("fabric.delay=-5 us", ["it is negative"]),
    ('transport.mss="1460 B"', ["without quotes and without a unit: 1460"]),
    ("run.duration=10", ["the unit is missing", '"10 ms"']),
    ('run.duration="10 ms', ["ends with a quote"]),
    ("run.duration=99999999999 s", ["it is too large"]),
    ("run.duration=0 s", ["expected more than 0 s"]),
    ("run.seeds=0", ["`run.seeds` is 0", "expected 1 to 10000"]),
    ("run.seeds=[1, 1]", ["the seed 1 is listed twice"]),
    ('measure.window=["9 ms", "1 ms"]', ["the window ends at 1 ms, not after its start", "expected more than 9 ms"]),
    ("measure.baseline=spray", ["the baseline `spray`", "expected one of `ecmp`"]),
    # Nodes, links and files.
    ('event=[{at="5 ms", fail="l0-s0"}]', ["there is no node `l0`", "did you mean `h0`?"]),
    ('event=[{at="5 ms", fail="e0-c3"}]', ["there is no link between `e0` and `c3`", "`weft fabric` shows the fabric"]),
    ('event=[{at="5 ms", fail_node="x"}]', ["there is no node `x`", "`weft fabric` shows the fabric"]),
    ('event=[{time="5 ms", fail="e0-a0"}]', ["[event] has no `at`", "did you mean `at`?"]),
    ('event=[{at="5 ms", down="e0-a0"}]', ["the event has no action", "expected one of `fail`"]),
    ('fabric={file="none.json"}', ["`none.json` cannot be read", "No such file or directory"]),
]

COMMANDS = [
    ("check nothere.toml", ["nothere.toml: No such file", "weft new mine.toml", "weft scenarios"]),
    ("check base.tml", ["base.tml: No such file", "did you mean base.toml?"]),
    ("fabric nothere.graphml", ["nothere.graphml: No such file", "weft new mine.toml --from own-fabric"]),
    ("check bsae.toml", ["did you mean ", "base.toml?"]),
    ("check none/base.toml", ["there is no directory none"]),
    ("check empty.toml", ["empty.toml is empty", "weft new"]),
    ("check s.yaml", ["s.yaml is YAML", "a scenario is a TOML file", "weft new"]),
    ("check yaml.toml", ["it looks like YAML", "[section] on a line"]),
    ("check json.toml", ["it looks like JSON"]),
    ("check bytes.toml", ["not a text file"]),
    ("check .", ["is a directory, not a scenario file", "weft check base.toml"]),
    ("run base.toml --jobs 0", ["--jobs is `0`: give a whole number from 1 to 65535"]),
    ("run base.toml --jobs two", ["--jobs is `two`: give a whole number from 1 to 65535"]),
    ("run base.toml --dask tcp://host.invalid:1", ["no Dask scheduler answers at tcp://host.invalid:1: "]),
    ("run base.toml --jobs", ["--jobs needs a value"]),
    ("run base.toml --jobs 99999999999999999999", ["give a whole number from 1 to 65535"]),
    ("run base.toml --threads 99999999999999999999", ["give a whole number from 1 to 65535"]),
    ("run base.toml --seeds 99999999999", ["--seeds is `99999999999`: give a whole number from 1 to 10000"]),
    ("run base.toml --baseline load=0.2", ["does not sweep `load`", "the swept keys are none"]),
    ("summary results/one --metric ,", ["--metric names no metric"]),
    ("report results/one -o results", ["results is a directory: give a file"]),
    ("run base.toml --seeds 1,2", ["--seeds is `1,2`", "run.seeds=[3, 5]"]),
    ("run base.toml --sedes 3", ["weft run has no option --sedes", "--seeds"]),
    ("run base.toml other.toml", ["unexpected: other.toml", "`weft run` takes SCENARIO"]),
    ("run base.toml -o base.toml", ["base.toml is a file: give a directory"]),
    ("run base.toml --capture nolink -o out", ["`nolink` does not name a link", '"e0-a1"']),
    ("run", ["weft run needs SCENARIO"]),
    ("rnu", ["there is no command `weft rnu`", "weft run"]),
    ("simulate base.toml", ["weft run"]),
    ("list foo", ["there is no list `foo`: the lists are schemes, profiles, distributions, studies, bench"]),
    ("scenarios base.toml", ["cannot be written: base.toml is a file, not a directory"]),
    ("new x.yaml", ["x.yaml names a file in YAML, and a scenario is a TOML file", "x.toml"]),
    ("list scheme", ["there is no list `scheme`: did you mean schemes? The lists are schemes, profiles"]),
    ("schemes ecpm", ["no scheme `ecpm`", "did you mean `ecmp`?"]),
    ("plot results", ["holds result directories", "give one of results/one, results/two"]),
    ("summary base.toml", ["is a file, not a result directory", "weft run base.toml"]),
    ("report results/oen", ["does not exist: did you mean results/one?"]),
    ("fabric table.csv", ["`table.csv` is not a fabric file", ".graphml"]),
    ("explore base.toml --from h0", ["a flow has two endpoints", "--to HOST"]),
]


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with files of a new user, which is the current one."""
    monkeypatch.chdir(tmp_path)
    yaml = "fabric:\n  kind: fat-tree\n"
    texts = {"base.toml": BASE, "empty.toml": "\n", "s.yaml": yaml, "yaml.toml": yaml, "table.csv": "a,b\n"}
    texts["json.toml"] = '{"fabric": {"kind": "fat-tree"}}'
    for name, text in texts.items():
        Path(name).write_text(text)
    Path("bytes.toml").write_bytes(b"\xff\xfe\x00")
    for name in ("one", "two"):
        (tmp_path / "results" / name).mkdir(parents=True)
        (tmp_path / "results" / name / "sweep.json").write_text('{"runs": []}')
    return tmp_path


@pytest.mark.parametrize(("change", "words"), SETS, ids=[change for change, _ in SETS])
def test_a_wrong_key_or_value_is_refused_with_the_right_one(weft, desk, change, words):
    result = weft("check", "base.toml", "--set", change)
    assert result.exit_code == 2, result.output
    assert not [word for word in words if word not in result.stderr], result.stderr
    assert "--set:" not in result.stderr


@pytest.mark.parametrize(("line", "words"), COMMANDS, ids=[line for line, _ in COMMANDS])
def test_a_wrong_command_is_refused_with_the_right_one(weft, desk, line, words):
    result = weft(*line.split())
    assert result.exit_code == 2, result.output
    assert not [word for word in words if word not in result.stderr], result.stderr
    assert result.stderr.startswith("error: ") and "╭" not in result.stderr
    assert "warning" not in result.stderr


def test_there_are_more_than_fifty_wrong_inputs():
    assert len(SETS) + len(COMMANDS) >= 65


@pytest.mark.parametrize(
    ("section", "example"),
    [
        ("fabric", '`[fabric]`, `kind = "fat-tree"`, `k = 4`'),
        ("traffic", '`[traffic]`, `sizes = "web-search"`, `load = 0.4`'),
        ("scheme", '`[scheme]`, `name = "ecmp"`'),
    ],
)
def test_a_missing_section_is_named_with_lines_to_write(weft, desk, section, example):
    parts = BASE.split("\n\n")
    Path("less.toml").write_text("\n\n".join(part for part in parts if f"[{section}]" not in part))
    result = weft("check", "less.toml")
    assert (result.exit_code, f"section [{section}] is missing" in result.stderr) == (2, True), result.stderr
    assert f"write, for example, the lines: {example}" in result.stderr


def test_a_warning_of_the_check_is_not_repeated_at_the_end_of_the_run(weft, desk):
    sets = ["traffic.load=0.9", "traffic.load_of=fabric-uplinks", "traffic.pairs=inter-leaf", "run.duration=1 ms"]
    sets += ['sweep={scheme.name=["single_path","ecmp"]}']
    options = [word for change in sets for word in ("--set", change)]
    result = weft("run", "base.toml", "-o", "over", *options)
    assert result.exit_code == 0, result.stderr
    assert result.stderr.count("offered load on link") == 1, result.stderr
    shown = weft("summary", "over")
    assert (shown.stdout + shown.stderr).count("offered load on link") == 1, shown.stdout + shown.stderr


def test_an_error_in_the_scenario_comes_before_results_of_another_scenario(desk):
    tiny = Scenario.from_file("base.toml").with_sets(["traffic.flows=3"])
    tiny.run("there")
    with pytest.raises(ScenarioError, match="results of a different scenario"):
        tiny.set("traffic.flows", 4).run("there")
    with pytest.raises(ScenarioError, match="there is no node `l0`"):
        tiny.with_sets(['event=[{at="5 ms", fail="l0-s0"}]']).run("there")


@pytest.mark.parametrize("path", ["none/none.json", "./none.json"])
def test_a_file_that_cannot_be_read_is_named_once_without_the_number_of_the_error(weft, desk, path):
    for command in (("check", "base.toml", "--set", f'fabric={{file="{path}"}}'), ("fabric", path), ("check", path)):
        said = weft(*command).stderr
        assert "No such file or directory" in said and "rrno" not in said and "os error" not in said, said
        assert said.replace(f'--set fabric={{file="{path}"}}', "").count(path.removeprefix("./")) == 1, said


@pytest.mark.parametrize(("content", "why"), [(b'{"runs": [', "Expecting value"), (b"\xb1\x00", "not text"), (b"", "")])
def test_damaged_results_are_named_with_the_way_to_replace_them(weft, desk, content, why):
    Path("results/one/sweep.json").write_bytes(content)
    for command in ("summary", "report", "plot", "why", "query"):
        result = weft(command, "results/one")
        assert (result.exit_code, why in result.stderr) == (2, True), result.stderr
        assert "results/one/sweep.json: not valid JSON" in result.stderr
        assert "delete results/one and run the scenario again" in result.stderr


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ('{"runs": [3]}', "expected an object with a list `runs` of objects"),
        ('{"runs": [{"id": "a", "seed": "x"}]}', "a run is not valid"),
        ('{"runs": [{"id": "a"}]}', "a run has no 'seed'"),
    ],
)
def test_a_damaged_list_of_runs_is_no_internal_error(weft, desk, content, why):
    Path("results/one/sweep.json").write_text(content)
    result = weft("summary", "results/one")
    assert (result.exit_code, why in result.stderr) == (2, True), result.stderr
    assert "delete results/one and run the scenario again" in result.stderr


def test_the_fix_is_under_the_wrong_part_of_an_option(weft, desk):
    lines = weft("check", "base.toml", "--set", "traffic.laod=0.6").stderr.splitlines()
    assert lines[2] == "  | --set traffic.laod=0.6"
    assert lines[3].startswith("  |       ^^^^^^^^^^^^ did you mean")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ('measure.interval="1 ns"', "measure.interval is 1 ns: if the run lasts for 10 ms, 10000000 samples"),
        ('measure.interval="1 s"', "measure.interval is 1 s, longer than run.duration"),
        ('event=[{at="2 s", fail="e0-a0"}]', "the event at 2 s comes after the last flow starts"),
        ('event=[{at="1 h", fail="e0-a0"}]', "the event at 3600 s is after the end of the run"),
    ],
)
def test_times_that_do_not_suit_the_run_are_warned_of_once(weft, desk, change, words):
    result = weft("check", "base.toml", "--set", change, "--set", "sweep.traffic.load=[0.2, 0.4]")
    assert result.exit_code == 0, result.stderr
    assert result.stderr.count(words) == 1, result.stderr


@pytest.mark.parametrize(
    ("command", "module", "name", "kept"),
    [
        ("summary results/one", "weft.side_by_side", "opened", "nothing is kept"),
        ("report results/one", "weft.reporting", "write", "no file was written"),
        ("plot results/one", "weft.figures", "write", "figures that were complete are kept"),
        ("query results/one", "weft.query", "opened", "no file was written"),
        ("explore base.toml", "weft.exploring", "follow", "no file was written"),
        ("fabric base.toml", "weft.cli.fabric", "read_fabric", "no file was written"),
        ("export results/one --format fct", "weft.results", "Results", "no file was written"),
        ("check base.toml", "weft.scenario", "Scenario.check", "nothing is kept"),
        ("bench fat-tree-k4-tcp", "weft._weft", "bench", "nothing is kept"),
    ],
)
def test_ctrl_c_says_what_is_kept_and_how_to_start_again(weft, desk, monkeypatch, command, module, name, kept):
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(f"{module}.{name}", interrupted)
    monkeypatch.setattr("sys.argv", ["weft", *command.split()])
    result = weft(*command.split())
    assert result.exit_code == 130
    assert f"Stopped: {kept}. To start again:\n  weft {command}\n" in result.stderr


@pytest.mark.parametrize("command", ["run base.toml", "run base.toml --quiet"])
def test_ctrl_c_while_the_cost_is_estimated_says_that_nothing_has_run(weft, desk, monkeypatch, command):
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("weft.cli.run.estimate", interrupted)
    result = weft(*command.split())
    assert result.exit_code == 130
    assert result.stderr == f"Stopped: nothing has run. To start again:\n  weft {command}\n"


def test_ctrl_c_while_a_library_is_imported_is_no_internal_error(weft, desk, monkeypatch):
    def interrupted(*_: object, **__: object) -> None:
        raise ImportError("initialization failed") from KeyboardInterrupt()

    monkeypatch.setattr("weft.scenario.Scenario.check", interrupted)
    result = weft("check", "base.toml")
    assert (result.exit_code, "Stopped: nothing is kept" in result.stderr) == (130, True), result.stderr
