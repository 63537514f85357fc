"""All programs: one meaning of exit codes, manual pages and shell completion."""

from __future__ import annotations

import ast
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from waiting import PATIENCE_S, until
from weft import interpreter
from weft.emulation import timeouts
from weft.sockets import RUN_DIR

RUST = ("weft-switchd", "weftctl", "weft-loadgen", "weft-pktgen")
PROGRAMS = ("weft", *RUST)
SECTIONS = {"weft-switchd": "8", "weftctl": "8"}
SHELLS = ("bash", "zsh", "fish")


def command(name: str) -> list[str]:
    """How to call a program of this build."""
    if name == "weft":
        return [sys.executable, "-m", "weft"]
    beside = Path(sys.executable).parent / name
    if not beside.is_file():
        pytest.skip(f"{name} is not built; run `make emulation`")
    return [str(beside)]


def ran(name: str, *arguments: object, **settings: object) -> subprocess.CompletedProcess[str]:
    words = [*command(name), *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE_S, check=False, **settings)


@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        *((name, ["--version"], 0) for name in PROGRAMS),
        *((name, ["--no-such-option"], 2) for name in PROGRAMS),
        *((name, ["--completion", "tcsh"], 2) for name in PROGRAMS),
        *((name, ["--man", "/proc/nowhere"], 2) for name in PROGRAMS),
        ("weft", ["check", "none.toml"], 2),
        ("weft", ["check", "bad.toml"], 2),
        ("weft", ["summary", "nowhere"], 2),
        ("weft", ["controller", "show", "paths", "--control", "none.sock"], 2),
        ("weft-switchd", ["--check", "--config", "none.toml"], 2),
        ("weft-switchd", ["--check", "--config", "bad.toml"], 2),
        ("weft-switchd", ["--check", "--mode", "tcp-path", "--port", "eth0"], 0),
        ("weftctl", ["--run-dir", ".", "show", "ports"], 2),
        ("weftctl", ["add-flow", "priority=none"], 2),
        ("weft-loadgen", ["none.json", "--records", "r"], 2),
        ("weft-loadgen", ["bad.toml", "--records", "r"], 2),
        ("weft-loadgen", ["empty.json", "--records", "r"], 0),
        ("weft-pktgen", ["load", "none.json"], 2),
        ("weft-pktgen", ["load", "bad.toml"], 2),
    ],
)
def test_exit_codes_mean_the_same_in_all_programs(name, arguments, code, tmp_path):
    (tmp_path / "bad.toml").write_text("mode = \n")
    (tmp_path / "empty.json").write_text('{"hosts": [], "flows": [], "limit_ps": 1000000000}')
    done = ran(name, *arguments, cwd=tmp_path)
    assert done.returncode == code, (done.stdout, done.stderr)
    assert "Traceback" not in done.stderr and "panicked" not in done.stderr
    # An interface of this machine may not be fit to be a port.
    said = [line for line in done.stderr.splitlines() if not line.startswith("warning: ")]
    assert any(said) == (code != 0), "an error says why"


@pytest.mark.parametrize("name", ["weft", "weft-loadgen"])
def test_a_program_stopped_by_ctrl_c_exits_with_130(name, tiny, tmp_path):
    host = '{"name": "h0", "address": "127.0.0.1"}, {"name": "h1", "address": "127.0.0.2"}'
    flow = (
        '{"flow": 0, "src": "h0", "dst": "h1", "sport": 40000, "dport": 5001, "bytes": 1, "start_ps": 6'
        + "0" * 13
        + "}"
    )
    (tmp_path / "w.json").write_text(f'{{"hosts": [{host}], "flows": [{flow}], "limit_ps": 90000000000000}}')
    tiny.write_text(tiny.read_text().replace('duration = "5 ms"', 'duration = "4 s"'))
    arguments = {
        "weft": ["run", tiny, "-o", tmp_path / "out", "--jobs", "1"],
        "weft-loadgen": [tmp_path / "w.json", "--records", tmp_path / "records", "--progress", "json"],
    }[name]
    words = [*command(name), *map(str, arguments)]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if name == "weft":
        until("the sweep has begun", (tmp_path / "out" / "scenario.toml").exists)
    else:
        assert select.select([process.stderr], [], [], PATIENCE_S)[0], "it is not ready"
        said = process.stderr.readline()
        assert '"ready"' in said, said
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130, said


INTERRUPTED_IMPORT = """
import os, signal, sys
module = sys.argv.pop(1)
class Finder:
    def find_spec(self, name, path, target=None):
        if name == module:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
from weft.entry import main
main()
"""


@pytest.mark.parametrize("module", ["json", "weft._weft", "weft.cli", "typer", "weft.scenario", "weft.cli.tag_forward"])
def test_ctrl_c_while_weft_imports_ends_it_quietly(module):
    command = [sys.executable, "-c", INTERRUPTED_IMPORT, module]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@pytest.mark.parametrize("name", ["weft-switchd", "weftctl"])
def test_the_daemon_and_its_client_default_to_the_directory_of_the_control_plane(name):
    described = ran(name, "--help").stdout.partition("--run-dir")[2]
    assert re.search(r"\[default: (.*?)\]", described)[1] == str(RUN_DIR)


def test_the_switch_for_mininet_repeats_the_constants_of_weft():
    source = Path(__file__).parents[2] / "python" / "weft" / "emulation" / "weft_mininet.py"
    assigned = [one for one in ast.parse(source.read_text()).body if isinstance(one, ast.Assign)]
    values = {one.targets[0].id: one.value for one in assigned}
    repeated = [ast.literal_eval(values[name]) for name in ("RUN_DIR", "READY_S")]
    assert repeated == [str(RUN_DIR), timeouts.READY_S]


def debian_launcher(folder: Path) -> Path:
    """The command of the Debian package, for this Python and directory."""
    root = Path(__file__).parents[2]
    text = (root / "packaging" / "weft-deb.sh").read_text().partition("<<'LAUNCHER'\n")[2].partition("LAUNCHER\n")[0]
    assert text.count("/usr/lib/weft") == text.count("/usr/bin/python3") == 1
    text = text.replace("/usr/lib/weft", str(root / "python")).replace("/usr/bin/python3", sys.executable)
    launcher = folder / "weft"
    launcher.write_text(text)
    launcher.chmod(0o755)
    return launcher


HOSTILE = "open('executed', 'w').close()\nraise SystemExit('executed')\n"


@pytest.mark.parametrize("started", ["the command of the Debian package", "a process that Weft starts"])
def test_a_file_in_the_current_directory_is_not_taken_for_a_module(started, tmp_path):
    weft = interpreter.module("weft") if started.startswith("a process") else [str(debian_launcher(tmp_path))]
    current = tmp_path / "current"
    current.mkdir()
    for name in ("typer", "json", "weft"):
        (current / f"{name}.py").write_text(HOSTILE)
    done = subprocess.run([*weft, "--version"], cwd=current, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert not (current / "executed").exists()


def test_the_installed_command_begins_where_ctrl_c_is_caught():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    assert project["scripts"]["weft"] == "weft.entry:main"


def test_the_page_of_exit_codes_names_every_program_and_code():
    page = (Path(__file__).parents[2] / "docs" / "exit-codes.md").read_text()
    assert [f"`{name}`" for name in PROGRAMS if f"`{name}`" not in page] == []
    assert [code for code in (0, 1, 2, 130) if f"* **{code}**" not in page] == []


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_manual_pages_of_a_program_are_formatted_without_a_warning(name, tmp_path):
    groff = shutil.which("groff") or pytest.skip("groff is not installed (Debian package `groff-base`)")
    written = ran(name, "--man", tmp_path).stdout.split()
    assert str(tmp_path / f"{name}.{SECTIONS.get(name, '1')}") in written
    assert sorted(written) == sorted(map(str, tmp_path.iterdir()))
    for page in written:
        formatted = [groff, "-man", "-Tutf8", "-P-cbou", "-ww", page]
        done = subprocess.run(formatted, capture_output=True, text=True, check=True)
        assert done.stderr == "", page
        assert "NAME" in done.stdout and "SYNOPSIS" in done.stdout, page
        assert "[bold]" not in done.stdout, page


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("shell", SHELLS)
def test_the_completion_script_of_a_shell_is_one(name, shell, tmp_path):
    program = shutil.which(shell) or (shell == "bash" and "/bin/bash")
    script = tmp_path / "script"
    script.write_text(ran(name, "--completion", shell).stdout)
    assert name in script.read_text()
    if program:
        subprocess.run([program, "-n", script], check=True)


@pytest.mark.parametrize(
    ("name", "line", "expected"),
    [
        ("weft", "weft ru", {"run"}),
        ("weft", "weft tag-forward pro", {"provision"}),
        ("weft", "weft run --see", {"--seeds"}),
        ("weftctl", "weftctl sho", {"show"}),
        ("weftctl", "weftctl show p", {"ports", "paths"}),
        ("weft-switchd", "weft-switchd --att", {"--attach"}),
        ("weft-loadgen", "weft-loadgen --progress j", {"json"}),
        ("weft-pktgen", "weft-pktgen ec", {"echo"}),
    ],
)
def test_bash_completes_commands_and_options(name, line, expected, tmp_path):
    """Bash itself runs the function that the script registers, as for the Tab key."""
    if name == "weft":
        launcher = tmp_path / "weft"
        launcher.write_text(f'#!/bin/sh\nexec {sys.executable} -m weft "$@"\n')
        launcher.chmod(0o755)
    (tmp_path / "script").write_text(ran(name, "--completion", "bash").stdout)
    words = line.split()
    ask = f"""
        source "{tmp_path}/script"
        spec=$(complete -p {name}) && function=${{spec##*-F }} && function=${{function%% *}}
        COMP_WORDS=({line}) COMP_CWORD={len(words) - 1} COMP_LINE="{line}" COMP_POINT={len(line)}
        compopt() {{ :; }}
        "$function" {name} "{words[-1]}" "{words[-2]}"
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    environment = os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", ask], capture_output=True, text=True, env=environment, check=True)
    assert {word.strip() for word in done.stdout.split()} == expected, done.stderr


LAZY = """
import sys, weft
assert "weft._weft" not in sys.modules and "polars" not in sys.modules
missing = set(weft.__all__) - set(dir(weft))
assert not missing, missing
for name in weft.__all__:
    assert getattr(weft, name) is vars(weft)[name], name
assert weft.load_plugin.__module__ == "weft.plugins"
"""


def test_all_public_names_are_listed_before_their_modules_are_imported_and_kept_after():
    done = subprocess.run([sys.executable, "-c", LAZY], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
