"""The wheel works where there is no compiler, network or repository, and the source distribution makes a wheel."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile

import bare
import pytest

USE = "export PATH=/opt/weft/bin:$PATH"
PROGRAMS = ("weft", "weft-switchd", "weftctl", "weft-loadgen", "weft-pktgen")


def test_the_wheel_is_for_old_distributions_and_every_python_3():
    wheel = bare.newest("wheels/weft-*-manylinux*.whl", "wheel")
    assert "-cp311-abi3-manylinux_2_" in wheel.name
    names = zipfile.ZipFile(wheel).namelist()
    for expected in (
        "weft/_weft.abi3.so",
        "weft/scenarios/quickstart.toml",
        "weft/scenarios/smoc/topology1.fabric.toml",
        *(f".data/scripts/{program}" for program in PROGRAMS[1:]),
        ".data/data/share/man/man1/weft-run.1",
        ".data/data/share/man/man8/weftctl-trace.8",
        ".data/data/share/bash-completion/completions/weft",
        "weft/sources/Cargo.lock",
        "weft/sources/crates/plugin/src/lib.rs",
    ):
        assert [name for name in names if name.endswith(expected)], expected
    if "-manylinux_2_28_" not in wheel.name:
        pytest.skip(f"{wheel.name} was built with --here")


def test_the_machine_has_no_compiler_no_network_and_no_repository(installed):
    for absent in ("cc", "gcc", "clang", "cargo", "make", "git"):
        installed.run(f"! command -v {absent}")
    assert "lo" in installed.run("ls /sys/class/net") and "eth0" not in installed.run("ls /sys/class/net")
    assert not (installed.path / str(bare.ROOT).lstrip("/")).exists()


def test_every_program_starts(installed):
    for program in PROGRAMS:
        assert "0." in installed.run(f"{USE}; {program} --version")


def test_the_quickstart_runs_from_scenario_to_report(installed):
    installed.run(f"{USE}; rm -rf scenarios results; weft scenarios && weft run scenarios/quickstart.toml --seeds 1")
    said = installed.run(f"{USE}; weft summary results/quickstart --json")
    assert json.loads(said[: said.rindex("}") + 1])
    installed.run(f"{USE}; weft report results/quickstart && weft plot results/quickstart")
    report = installed.path / "root" / "results" / "quickstart" / "report.html"
    assert report.stat().st_size > 200_000
    assert list((installed.path / "root" / "results" / "quickstart").rglob("*.pdf"))


def test_the_documentation_s_commands_work_with_the_package_s_scenarios(installed):
    installed.run(f"{USE}; rm -rf scenarios; weft scenarios")
    for command in (
        "for file in scenarios/*.toml; do weft check $file || exit 1; done",
        "weft fabric scenarios/smoc/topology2.fabric.toml --paths a b",
        "weft tag-forward plan scenarios/tag-forward.toml",
        "weft new mine.toml && weft check mine.toml && rm mine.toml",
        "weft-switchd --check --mode tcp-path --port eth0",
        "weft controller show status --control none.sock; test $? = 2",
    ):
        installed.run(f"{USE}; {command}")


def test_sql_and_a_sweep_on_dask_workers_need_only_the_wheel(installed):
    installed.run(f"{USE}; rm -rf scenarios here there; weft scenarios")
    run = "weft run scenarios/quickstart.toml --seeds 1"
    installed.run(f"{USE}; {run} -o here && {run} -o there --dask local:2")
    installed.run("diff -r -x performance.json -x aggregates -x .lock here there")
    said = installed.run(f"{USE}; weft query here 'SELECT count(DISTINCT scheme) AS schemes FROM flows' --csv")
    assert said.split() == ["schemes", "3"], said


def test_a_scheme_is_written_with_the_package_s_sources_and_says_that_it_needs_cargo(installed):
    installed.run(f"{USE}; rm -rf mine; weft new scheme mine && readlink mine/.weft/crates | grep /weft/sources/crates")
    assert list((installed.path / "opt/weft/lib").glob("python3*/site-packages/weft/sources/crates/plugin/src/lib.rs"))
    said = installed.run(f"{USE}; weft run mine/compare.toml --plugin mine", code=2)
    assert "cargo is not installed" in said and "rustup.rs" in said, said


def test_the_controller_listens_and_answers(installed):
    script = f"""{bare.AWAIT}{USE}
        weft controller --control /tmp/c.sock --listen 127.0.0.1:6653 & pid=$!
        await "weft controller show status --control /tmp/c.sock"
        weft controller show status --control /tmp/c.sock
        kill $pid; wait $pid"""
    assert "smoc" in installed.run(script)


def test_an_emulation_runs_from_the_wheel(emulating):
    emulating.run(f"{USE}; rm -rf scenarios; weft scenarios")
    said = emulating.run(
        f"{USE}; weft emulate scenarios/emulation.toml --set run.duration='\"1 s\"' --seeds 1 -o results/e"
    )
    summaries = list((emulating.path / "root" / "results" / "e" / "runs").rglob("summary.json"))
    assert summaries, said
    for summary in summaries:
        assert json.loads(summary.read_text())["counters"]["flows_finished"] > 0


def test_manual_pages_and_completion_are_found_in_the_environment(emulating):
    said = emulating.run(f"{USE}; man -w weft-run && man -w weftctl && man weft | head -5", code=0)
    assert "/opt/weft/share/man/man1/weft-run.1" in said


def test_the_source_distribution_makes_a_wheel_in_a_clean_environment(tmp_path):
    source = bare.newest("wheels/weft-*.tar.gz", "sdist")
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "env"], check=True)
    build = [tmp_path / "env" / "bin" / "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", tmp_path, source]
    subprocess.run(build, check=True, timeout=3000, cwd=tmp_path)
    names = zipfile.ZipFile(next(tmp_path.glob("weft-*.whl"))).namelist()
    for expected in ("scenarios/quickstart.toml", "_weft.abi3.so", "sources/crates/plugin/src/lib.rs"):
        assert f"weft/{expected}" in names, expected
