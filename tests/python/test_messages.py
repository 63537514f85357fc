"""Wrong inputs of a new user: every message says what is wrong and what to type instead."""

from __future__ import annotations

from pathlib import Path

import pytest

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
    ('fabric={file="none.json"}', ["`none.json` cannot be read", "there is no such file here"]),
]

COMMANDS = [
    ("check nothere.toml", ["nothere.toml: No such file"]),
    ("check bsae.toml", ["did you mean ", "base.toml?"]),
    ("check none/base.toml", ["there is no directory none"]),
    ("check empty.toml", ["empty.toml is empty", "weft new"]),
    ("check s.yaml", ["s.yaml is YAML", "a scenario is a TOML file", "weft new"]),
    ("check yaml.toml", ["it looks like YAML", "[section] on a line"]),
    ("check json.toml", ["it looks like JSON"]),
    ("check bytes.toml", ["not a text file"]),
    ("check .", ["is a directory, not a scenario file", "weft run base.toml"]),
    ("run base.toml --jobs 0", ["--jobs is `0`: give a whole number from 1 on"]),
    ("run base.toml --jobs two", ["--jobs is `two`: give a whole number from 1 on"]),
    ("run base.toml --jobs", ["--jobs needs a value"]),
    ("run base.toml --seeds 1,2", ["--seeds is `1,2`", "run.seeds=[3, 5]"]),
    ("run base.toml --sedes 3", ["weft run has no option --sedes", "--seeds"]),
    ("run base.toml other.toml", ["unexpected: other.toml", "`weft run` takes SCENARIO"]),
    ("run base.toml -o base.toml", ["base.toml is a file: give a directory"]),
    ("run base.toml --capture nolink -o out", ["`nolink` does not name a link", '"e0-a1"']),
    ("run", ["weft run needs SCENARIO"]),
    ("rnu", ["there is no command `weft rnu`", "weft run"]),
    ("simulate base.toml", ["weft run"]),
    ("list foo", ["LIST is `foo`", "schemes, profiles, distributions, studies, bench"]),
    ("list scheme", ["did you mean schemes?"]),
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


def test_the_fix_is_under_the_wrong_part_of_an_option(weft, desk):
    lines = weft("check", "base.toml", "--set", "traffic.laod=0.6").stderr.splitlines()
    assert lines[2] == "  | --set traffic.laod=0.6"
    assert lines[3].startswith("  |       ^^^^^^^^^^^^ did you mean")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ('measure.interval="1 ns"', "measure.interval is 1 ns: 10000000 samples in 10 ms"),
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


def test_ctrl_c_while_a_library_is_imported_is_no_internal_error(weft, desk, monkeypatch):
    def interrupted(*_: object, **__: object) -> None:
        raise ImportError("initialization failed") from KeyboardInterrupt()

    monkeypatch.setattr("weft.scenario.Scenario.check", interrupted)
    result = weft("check", "base.toml")
    assert (result.exit_code, "Stopped: nothing is kept" in result.stderr) == (130, True), result.stderr
