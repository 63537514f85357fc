"""Plugins: schemes and congestion controllers in modules of their own, which run like those that are compiled in."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

SCENARIO = """\
name = "both"

[fabric]
kind = "fat-tree"
k = 4
rate = "1 Gbps"
delay = "5 us"
queue = "50 packets"

[traffic]
sizes = { fixed = "200 kB" }
arrivals = "poisson"
load = 0.4
load_of = "host-links"
pairs = "random"

[scheme]
name = "ecmp"

[run]
duration = "30 ms"
seeds = 2

[measure]
window = ["0 s", "30 ms"]
baseline = "ecmp"

[[event]]
at = "10 ms"
fail = "e0-a0"

[[event]]
at = "20 ms"
heal = "e0-a0"

[sweep]
"scheme.name" = ["ecmp", "again"]
"""


def built(name: str) -> Path:
    """The newest build of an example, which the same commands build as the engine."""
    found = [ROOT / "target" / profile / "examples" / f"lib{name}.so" for profile in ("debug", "release")]
    found = [path for path in found if path.is_file()]
    assert found, f"{name} is not built: cargo build -p weft-plugin --examples"
    return max(found, key=lambda path: path.stat().st_mtime)


@pytest.fixture
def again(tmp_path) -> Path:
    """ECMP as a plugin, away from its sources."""
    return Path(shutil.copy(built("again"), tmp_path / "libagain.so"))


@pytest.fixture
def reno_again(tmp_path) -> Path:
    """Reno as a plugin, away from its sources."""
    return Path(shutil.copy(built("reno_again"), tmp_path / "libreno_again.so"))


@pytest.fixture
def scenario(tmp_path) -> Path:
    path = tmp_path / "both.toml"
    path.write_text(SCENARIO)
    return path


def weft(*arguments: object, cwd: Path, code: int = 0) -> str:
    """The output of a command in a process of its own, since a plugin stays loaded."""
    command = [sys.executable, "-m", "weft", *map(str, arguments)]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, env=os.environ | {"COLUMNS": "200"})
    text = done.stdout + done.stderr
    assert done.returncode == code, text
    assert "Traceback" not in text
    return text


def files(results: Path, value: str, scrubbed: bool = False) -> dict[str, bytes]:
    """Every file of the runs of a value of the sweep, by seed and name; the value replaced."""
    found = {}
    for run in sorted((results / "runs").glob(f"*{value}-seed*")):
        seed = run.name.split("-")[-2]
        for file in sorted(run.iterdir()):
            content = file.read_bytes()
            if scrubbed and file.suffix == ".json":
                content = content.replace(run.name.encode(), b"RUN")
                content = re.sub(f'(["=]){value}"'.encode(), rb'\1VALUE"', content)
            found[f"{seed}/{file.name}"] = content
    return found


def test_a_plugin_in_a_sweep_has_the_bytes_of_the_same_scheme_compiled_in(tmp_path, scenario, again):
    text = weft("run", scenario, "--plugin", again, "-o", "results", cwd=tmp_path)
    assert f"Loaded the scheme again from {again}" in text
    one, other = (files(tmp_path / "results", scheme, scrubbed=True) for scheme in ("ecmp", "again"))
    assert {name.split("/")[1] for name in one} == {"flows.parquet", "series.parquet", "summary.json", "scenario.toml"}
    assert len(one) == 8
    assert one == other
    inputs = json.loads((tmp_path / "results" / "sweep.json").read_text())["inputs"]
    assert list(inputs) == ["plugin again"]
    weft("report", "results", cwd=tmp_path)
    assert "again" in (tmp_path / "results" / "report.html").read_text()
    assert "again" in weft("summary", "results", cwd=tmp_path)


def test_the_number_of_threads_changes_no_byte(tmp_path, scenario, again):
    def outcome(threads):
        arguments = ("--plugin", again, "--threads", threads, "--seeds", 1, "-o", f"results{threads}")
        weft("run", scenario, *arguments, cwd=tmp_path)
        return files(tmp_path / f"results{threads}", "again")

    one = outcome(1)
    assert len(one) == 4
    assert outcome(2) == one
    assert outcome(4) == one


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("scheme.hash_seed=per-swich", "did you mean `per-switch`?"),
        (
            "scheme.hash_sed=shared",
            "the scheme `again` has no parameter `hash_sed`\n  |\n  | --set scheme.hash_sed=shared\n",
        ),
        ("scheme.flowlet_table=5", "belongs to `"),
        ("scheme.slot=5", "the unit is missing"),
        ("scheme.quantum=5 s", "`scheme.quantum` is"),
        ("scheme.fail_after=0", "`scheme.fail_after` is 0"),
        ("scheme.fail_after=9999999", "`scheme.fail_after` is 9999999\n  |\n  | --set scheme.fail_after=9999999\n"),
        ("scheme.fail_after=666", "the plugin panicked: the checks fail (crates/plugin/tests/modules/again.rs:"),
        ("fabric.k=2", "`again` does not run on a fabric with so few hosts"),
    ],
)
def test_parameters_are_checked_like_those_of_a_scheme_compiled_in(tmp_path, scenario, again, change, expected):
    sets = ["--set", "scheme.name=again", "--set", "measure.baseline=again", "--set", change]
    text = weft("run", scenario, "--plugin", again, *sets, cwd=tmp_path, code=2)
    assert expected in text
    assert not (tmp_path / "results").exists()


def sets(*changes: str) -> list[str]:
    """Arguments that change keys of the scenario."""
    return [part for change in changes for part in ("--set", change)]


RENO_AND_AGAIN = sets('sweep={"transport.congestion_control" = ["reno", "reno_again"]}', "measure.baseline=reno")
"""Arguments that compare a plugin's Reno with the built-in one."""


@pytest.mark.parametrize(
    ("threads", "mptcp"),
    [(1, []), (2, []), (1, sets("transport.mptcp=ndiffports", "transport.mptcp_congestion=uncoupled"))],
    ids=["one thread", "two threads", "subflows"],
)
def test_a_congestion_controller_in_a_sweep_has_the_bytes_of_the_same_one_compiled_in(
    tmp_path, scenario, reno_again, threads, mptcp
):
    arguments = (*RENO_AND_AGAIN, *mptcp, "--threads", threads, "-o", "results")
    text = weft("run", scenario, "--plugin", reno_again, *arguments, cwd=tmp_path)
    assert f"Loaded the congestion controller reno_again from {reno_again}" in text
    one, other = (files(tmp_path / "results", name, scrubbed=True) for name in ("reno", "reno_again"))
    assert len(one) == 8
    assert one == other
    assert list(json.loads((tmp_path / "results" / "sweep.json").read_text())["inputs"]) == ["plugin reno_again"]
    assert "reno_again" in weft("summary", "results", cwd=tmp_path)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("transport.fail_after=9", "no more ACKs than the scenario allows (crates/plugin/tests/modules/reno_again.rs:"),
        ("transport.wild_window=1", "the congestion controller set the window to 1 bytes: expected 1448 to 1073725440"),
        ("transport.wild_window=4000000000", "the congestion controller set the window to 4000000000 bytes"),
    ],
)
def test_a_panic_or_a_wild_window_is_an_error_of_its_run(tmp_path, scenario, reno_again, change, expected):
    arguments = (*RENO_AND_AGAIN, *sets(change), "--seeds", 1, "-o", "results")
    text = weft("run", scenario, "--plugin", reno_again, *arguments, cwd=tmp_path, code=1)
    assert f"reno_again: the plugin panicked: {expected}" in text
    assert "1 run failed; 1 of 2 runs finished and readable in results" in text
    runs = [run.name for run in (tmp_path / "results" / "runs").iterdir()]
    assert [name.split("-")[1] for name in runs] == ["reno"]


@pytest.mark.parametrize(
    ("plugins", "change", "expected"),
    [
        (["reno_again"], "transport.fail_after=0", "`transport.fail_after` is 0"),
        (["reno_again"], "transport.fail_afte=9", "did you mean `fail_after`?"),
        ([], "seeds=1", "a controller of your own needs --plugin PATH"),
        (["reno_again", "again"], "scheme.name=again", "`again` and `reno_again` are of two plugins"),
    ],
)
def test_what_a_scenario_says_of_a_controller_is_checked(tmp_path, scenario, request, plugins, change, expected):
    given = [part for plugin in plugins for part in ("--plugin", request.getfixturevalue(plugin))]
    arguments = (*given, *RENO_AND_AGAIN, *sets(change))
    assert expected in weft("run", scenario, *arguments, "-o", "results", cwd=tmp_path, code=2)
    assert not (tmp_path / "results").exists()


def test_a_controller_is_shown_and_its_parameters_are_part_of_the_schema(tmp_path, reno_again):
    text = weft("schemes", reno_again, cwd=tmp_path)
    shown = ("reno_again  Reno as a plugin", "RFC 5681", str(reno_again), "ACKs of a connection after which it panics")
    assert [part for part in shown if "".join(part.split()) not in "".join(text.split())] == []
    assert '"wild_window"' in weft("schema", "--plugin", reno_again, cwd=tmp_path)
    assert '"wild_window"' not in weft("schema", cwd=tmp_path)


def test_a_scheme_of_a_plugin_that_is_not_given_is_unknown(tmp_path, scenario):
    text = weft("check", scenario, cwd=tmp_path, code=2)
    assert "`scheme.name` cannot be `again`" in text
    assert "a scheme of your own needs --plugin PATH" in text


@pytest.mark.parametrize("threads", [1, 2])
def test_a_panic_in_a_switch_is_an_error_of_its_run(tmp_path, scenario, again, threads):
    sets = ("--set", "scheme.fail_after=1000", "--seeds", 1, "--threads", threads)
    text = weft("run", scenario, "--plugin", again, *sets, "-o", "results", cwd=tmp_path, code=1)
    assert "again: the plugin panicked: no more frames than the scenario allows (crates/plugin/tests/modules" in text
    assert "1 run failed; 1 of 2 runs finished and readable in results" in text
    runs = [run.name for run in (tmp_path / "results" / "runs").iterdir()]
    assert [name.split("-")[0] for name in runs] == ["ecmp"]


def of_another_version(tmp_path, again):
    content = again.read_bytes()
    assert b"module of Weft 0." in content
    again.write_bytes(content.replace(b"module of Weft 0.", b"module of Weft 9."))
    return again


def a_text(tmp_path, again):
    again.write_text("not a module")
    return again


def another_library(tmp_path, again):
    import numpy.random._pcg64 as library

    return Path(library.__file__)


def cut_off(tmp_path, again):
    again.write_bytes(again.read_bytes()[:-1000])
    return again


def older_than_its_source(tmp_path, again):
    source = tmp_path / "src dir" / "lib.rs"
    source.parent.mkdir()
    source.write_text("//! newer")
    os.utime(again, (1, 1))
    again.with_suffix(".d").write_text(f"{again}: /nowhere/else.rs {str(source).replace(' ', chr(92) + ' ')}\n")
    return again


def a_directory(tmp_path, again):
    (tmp_path / "empty").mkdir()
    return tmp_path / "empty"


def a_library_crate(tmp_path, again):
    crate = tmp_path / "crate"
    (crate / "src").mkdir(parents=True)
    (crate / "Cargo.toml").write_text('[package]\nname = "crate_x"\nedition = "2024"\n[workspace]\n')
    (crate / "src" / "lib.rs").write_text("")
    return crate


def a_crate_with_an_error(tmp_path, again):
    crate = a_library_crate(tmp_path, again)
    # Cargo refuses a package without sources before it compiles anything.
    (crate / "src" / "lib.rs").unlink()
    return crate


@pytest.mark.parametrize(
    ("module", "expected", "hint"),
    [
        (lambda tmp_path, again: tmp_path / "missing.so", "there is no plugin", "cargo build --release"),
        (a_text, "is not a plugin of Weft", ""),
        (another_library, "is not a plugin of Weft", ""),
        (cut_off, "is not a plugin of Weft: the end of the file is missing", ""),
        (of_another_version, "is a plugin of another version: it was built with Weft 9.", "build it again"),
        (older_than_its_source, "src dir/lib.rs", "cargo build --release"),
        (a_directory, "has no Cargo.toml", "give the crate of a plugin"),
        (a_library_crate, "is not the crate of a plugin", 'crate-type = ["cdylib"]'),
        (a_crate_with_an_error, "cannot be built: cargo's message is above", ""),
    ],
)
def test_what_is_not_a_plugin_of_this_version_is_refused(tmp_path, scenario, again, module, expected, hint):
    given = module(tmp_path, again)
    text = weft("run", scenario, "--plugin", given, cwd=tmp_path, code=2)
    assert expected in text
    assert hint in text
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize(("name", "arguments"), [("again", []), ("reno_again", RENO_AND_AGAIN)])
def test_frames_of_a_plugin_are_refused_before_anything_is_written(tmp_path, scenario, request, name, arguments):
    given = ("--plugin", request.getfixturevalue(name), *arguments)
    text = weft("run", scenario, *given, "--capture", "e0-a0", "-o", "results", cwd=tmp_path, code=2)
    assert f"cannot capture frames of `{name}`, which is a plugin's: leave out --capture, or `{name}`" in text
    assert not (tmp_path / "results").exists()


def test_two_plugins_cannot_have_the_same_scheme(tmp_path, scenario, again):
    other = shutil.copy(again, tmp_path / "libother.so")
    text = weft("check", scenario, "--plugin", again, "--plugin", other, cwd=tmp_path, code=2)
    assert f"its scheme `again` is that of {again}, too" in text


@pytest.mark.parametrize(("name", "more"), [("again", []), ("reno_again", RENO_AND_AGAIN)])
def test_results_of_a_changed_plugin_are_not_continued(tmp_path, scenario, request, name, more):
    plugin = request.getfixturevalue(name)
    arguments = ("run", scenario, "--plugin", plugin, *more, "-o", "results", "--seeds")
    weft(*arguments, 1, cwd=tmp_path)
    assert "4 runs in results (2 already done)" in weft(*arguments, 2, cwd=tmp_path)
    with plugin.open("ab") as file:
        file.write(b"a comment")
    text = weft(*arguments, 3, cwd=tmp_path, code=2)
    assert f"`plugin {name}` has changed since the results in results were written" in text


def test_a_plugin_is_shown_and_part_of_the_schema(tmp_path, again):
    text = "".join(weft("schemes", again, cwd=tmp_path).split())
    shown = (
        "again  ECMP as a plugin",
        f"plugin {again}",
        "per-switch as in ecmp (per-switch | shared)",
        "elsewhere: nowhere",
    )
    assert [part for part in shown if "".join(part.split()) not in text] == []
    assert '"const": "again"' in weft("schema", "--plugin", again, cwd=tmp_path)
    assert '"const": "again"' not in weft("schema", cwd=tmp_path)


def test_python_loads_a_plugin_once(tmp_path, scenario, again):
    program = f"""if True:
        import weft
        assert weft.load_plugin({str(again)!r}) == weft.load_plugin({str(again)!r}) == "again"
        results = weft.Scenario.from_file({str(scenario)!r}).run("results", seeds=[1])
        print(results.schemes)
        open({str(again)!r}, "ab").write(b"changed")
        try:
            weft.load_plugin({str(again)!r})
        except weft.PluginError as error:
            print(error)
    """
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.splitlines() == [
        "['ecmp', 'again']",
        f"{again} has changed since this process loaded it: start a new process",
    ], done.stderr


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["scheme"], "`weft new scheme` needs a name"),
        (["scheme", "ecmp"], "new scheme my_ecmp"),
        (["scheme", "My-Scheme"], "`My-Scheme` cannot be the name of a scheme"),
        (["scheme", "match"], "`match` cannot be the name of a scheme"),
        (["scheme", "both.toml"], "`both.toml` cannot be the name of a scheme"),
        (["scheme", "mine", "--from", "fat-tree"], "--from is for scenarios"),
        (["a.toml", "b.toml"], "`b.toml` is one argument too many"),
        (["scheme", "taken"], "taken already exists"),
        (["congestion-control"], "`weft new congestion-control` needs a name"),
        (["congestion-control", "cubic"], "new congestion-control my_cubic"),
    ],
)
def test_a_scheme_that_cannot_be_written_is_refused(tmp_path, arguments, expected):
    (tmp_path / "taken").mkdir()
    assert expected in weft("new", *arguments, cwd=tmp_path, code=2)
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


def test_the_crate_of_a_scheme_names_the_scheme_and_the_sources(tmp_path):
    text = weft("new", "scheme", "dir/mine", cwd=tmp_path)
    crate = tmp_path / "dir" / "mine"
    written = {path.relative_to(crate).as_posix() for path in crate.rglob("*") if path.is_file()}
    generated = {".cargo/config.toml", ".weft/Cargo.lock", ".weft/Cargo.toml"}
    assert written == {".gitignore", "Cargo.toml", "README.md", "compare.toml", "src/lib.rs"} | generated
    assert "run dir/mine/compare.toml --plugin dir/mine" in text
    assert (crate / ".weft" / "crates").readlink() == ROOT / "crates"
    assert f'build-dir = "{ROOT}/target"' in (crate / ".cargo" / "config.toml").read_text()
    assert 'name: "mine"' in (crate / "src" / "lib.rs").read_text()
    assert '"scheme.name" = ["ecmp", "spray", "mine"]' in (crate / "compare.toml").read_text()
    assert not [path for path in written if "CRATE" in (crate / path).read_text()]


def cargo(*arguments: str, cwd: Path) -> str:
    """What cargo prints, with the directories that the repository and plugins have without settings."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("CARGO_")}
    done = subprocess.run(["cargo", *arguments], cwd=cwd, env=environment, capture_output=True, text=True, check=True)
    return done.stdout


def compiled(*arguments: str, cwd: Path) -> set[str]:
    """The crates that a build compiled; others were there already."""
    messages = [json.loads(line) for line in cargo(*arguments, "--message-format", "json", cwd=cwd).splitlines()]
    artifacts = [message for message in messages if message["reason"] == "compiler-artifact"]
    assert artifacts
    return {artifact["target"]["name"] for artifact in artifacts if not artifact["fresh"]}


def test_a_plugin_needs_no_feature_that_the_extension_has_not(tmp_path):
    weft("new", "scheme", "mine", cwd=tmp_path)
    tree = ("tree", "--edges", "normal,build", "--prefix", "none", "--format", "{p} {f}")
    extension, plugin = (
        {line.removesuffix(" (*)").replace(f"{tmp_path}/mine/.weft", str(ROOT)) for line in lines.splitlines()}
        for lines in (cargo(*tree, "--package", "weft-python", cwd=ROOT), cargo(*tree, cwd=tmp_path / "mine"))
    )
    assert len(plugin) > 100
    assert plugin - extension == {f"mine v0.1.0 ({tmp_path}/mine) "}


def test_a_plugin_uses_crates_that_the_repository_has_compiled(tmp_path):
    weft("new", "scheme", "mine", cwd=tmp_path)
    check = ("check", "--release", "--package", "weft-pcapng", "--package", "weft-wire")
    compiled(*check, cwd=ROOT)
    assert compiled(*check, cwd=tmp_path / "mine") == set()
    assert compiled(*check, cwd=ROOT) == set()


def test_the_workspace_of_a_plugin_is_renewed_for_other_sources(tmp_path):
    weft("new", "scheme", "mine", cwd=tmp_path)
    crate, wrong = tmp_path / "mine", "/nowhere"
    files = [".weft/Cargo.toml", ".cargo/config.toml"]
    written = [(crate / file).read_text() for file in files]
    (crate / ".weft" / "crates").unlink()
    (crate / ".weft" / "crates").symlink_to(wrong)
    for file in (*files, ".weft/Cargo.lock"):
        (crate / file).write_text(wrong)
    # Cargo refuses a package without sources before it compiles anything.
    (crate / "src" / "lib.rs").unlink()
    assert "cannot be built" in weft("schemes", "./mine", cwd=tmp_path, code=2)
    assert [(crate / file).read_text() for file in files] == written
    assert 'name = "weft-sim"' in (crate / ".weft" / "Cargo.lock").read_text()
    assert (crate / ".weft" / "crates").readlink() == ROOT / "crates"


def test_the_crate_of_a_congestion_controller_names_it(tmp_path):
    text = weft("new", "congestion-control", "mine", cwd=tmp_path)
    assert "run mine/compare.toml --plugin mine" in text
    assert 'NAME: &\'static str = "mine"' in (tmp_path / "mine" / "src" / "lib.rs").read_text()
    assert '["reno", "cubic", "mine"]' in (tmp_path / "mine" / "compare.toml").read_text()
    assert (tmp_path / "mine" / ".weft" / "Cargo.toml").is_file()


def built_and_run(kind: str, directory: Path) -> tuple[object, ...]:
    """Writes, builds, tests and runs a new plugin of a kind; returns the arguments of the run."""
    weft("new", kind, "mine", cwd=directory)
    # What `make build` compiles is what the plugin needs.
    cargo("rustc", "--release", "--package", "weft-python", "--lib", cwd=ROOT)
    assert compiled("build", "--release", cwd=directory / "mine") == {"mine"}
    cargo("test", "--release", cwd=directory / "mine")
    short = sets("run.duration=30 ms", 'measure.window=["0 s", "30 ms"]')
    arguments = ("run", "mine/compare.toml", "--plugin", "mine", *short, "--seeds", 1)
    assert "3 runs in results/compare" in weft(*arguments, cwd=directory)
    return arguments


@pytest.mark.long
def test_a_new_congestion_controller_is_tested_built_and_run(tmp_path):
    built_and_run("congestion-control", tmp_path)


@pytest.mark.long
def test_a_new_scheme_is_tested_built_and_run(tmp_path):
    arguments = built_and_run("scheme", tmp_path)
    assert "(3 already done)" in weft(*arguments, cwd=tmp_path)
    source = tmp_path / "mine" / "src" / "lib.rs"
    source.write_text(source.read_text().replace("from_us(500)", "from_us(400)"))
    module = tmp_path / "mine" / "target" / "release" / "libmine.so"
    assert "is older than its source" in weft("schemes", module, cwd=tmp_path, code=2)
    assert "gap = 400 us" in weft("schemes", "./mine", cwd=tmp_path)
    assert "`plugin mine` has changed" in weft(*arguments, cwd=tmp_path, code=2)
