"""The tutorial's files, commands and Python work in their order, as a reader types them."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from test_plugins import built

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.S | re.M)
BUILD = ["make quickstart", 'export PATH="$PWD/.venv/bin:$PATH"', "mkdir -p first-study && cd first-study"]
"""The commands before Weft can be used."""
QUICKSTART = re.compile(r"((?:[\w.-]+/)*quickstart)/[\w<{*]|((?:[\w.-]+/)+quickstart)(?![\w./-])")
"""Results of the quickstart, as a page names them: with a file or as a directory."""
SWEEP = '"scheme.name" = ["ecmp", "spray", "conga"]\n'


def follow(directory: Path, plugin: Path | None) -> dict[str, str]:
    """Do all that the page says, with a compiled plugin instead of the crate if there is one; outputs by command."""
    blocks = BLOCK.findall((ROOT / "docs" / "tutorial.md").read_text())
    study, events, sweep, protocols = (text for kind, text in blocks if kind == "toml")
    line, addition = (text for kind, text in blocks if kind == "rust")
    (program,) = (text for kind, text in blocks if kind == "python")
    assert study.count(SWEEP) == 1
    (directory / "study.toml").write_text(study)
    (directory / "failure.toml").write_text(study + events)
    (directory / "protocols.toml").write_text(protocols)
    (directory / "own.toml").write_text(study.replace(SWEEP, sweep) + events)
    found = {}
    for command in "".join(text for kind, text in blocks if kind == "sh").splitlines():
        if command in BUILD:
            continue
        name, *arguments = shlex.split(command)
        assert name == "weft", command
        if plugin:
            arguments = [str(plugin) if one == "flowlet" and "--plugin" in arguments else one for one in arguments]
        found[command] = done([sys.executable, "-m", "weft", *arguments], directory)
        if arguments[:2] == ["new", "scheme"]:
            source = directory / "flowlet" / "src" / "lib.rs"
            assert source.read_text().count(line) == 1
            source.write_text(source.read_text().replace(line, line + addition))
    found["python"] = done([sys.executable, "-c", program], directory)
    return found


def done(command: list[str], directory: Path) -> str:
    environment = os.environ | {"COLUMNS": "160"}
    ended = subprocess.run(command, cwd=directory, capture_output=True, text=True, env=environment)
    assert ended.returncode == 0, f"{command}\n{ended.stdout}{ended.stderr}"
    assert "warning" not in ended.stderr, ended.stderr
    return ended.stdout + ended.stderr


def check(directory: Path, found: dict[str, str]) -> None:
    assert (directory / "results" / "failure" / "figures" / "throughput-time.pdf").is_file()
    assert "Impact of events" in found["weft summary results/failure"]
    assert "flowlet" in found["weft summary results/own --ranks"]
    figures = {path.suffix for path in (directory / "results" / "own" / "figures").iterdir()}
    assert figures == {".pdf", ".png"}
    (table,) = (text for kind, text in BLOCK.findall((ROOT / "docs" / "tutorial.md").read_text()) if kind == "text")
    printed = [line.rstrip() for line in found["weft run protocols.toml --baseline tcp"].splitlines()]
    assert table in "\n".join([*printed, ""])
    report = (directory / "results" / "study" / "report.html").read_text()
    assert report.count("% lower than with ecmp (95 % interval:") >= 1, "the findings at the top of the report"
    assert (directory / "tail.pdf").read_bytes().startswith(b"%PDF")


def test_every_command_of_the_tutorial_works_in_its_order(tmp_path):
    check(tmp_path, follow(tmp_path, Path(shutil.copy(built("flowlet"), tmp_path / "libflowlet.so"))))


def test_the_commands_that_build_weft_are_the_ones_of_the_makefile():
    text = "".join(text for kind, text in BLOCK.findall((ROOT / "docs" / "tutorial.md").read_text()) if kind == "sh")
    assert text.splitlines()[: len(BUILD)] == BUILD
    assert re.search(r"^quickstart: build", (ROOT / "Makefile").read_text(), re.M)


def test_all_pages_name_the_directory_that_make_quickstart_writes():
    made = subprocess.run(["make", "-n", "-o", "build", "quickstart"], cwd=ROOT, capture_output=True, text=True)
    simulated, reported = re.findall(r'(?:-o|report) "(.+)"$', made.stdout, re.M)
    pages = [
        ROOT / "README.md",
        ROOT / "Makefile",
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "scenarios").glob("*.toml"),
    ]
    pages += (ROOT / "python" / "weft" / "cli").glob("*.py")
    named = {"".join(found): page.name for page in pages for found in QUICKSTART.findall(page.read_text())}
    assert {simulated, reported, *named} == {"results/quickstart"}, named


@pytest.mark.long
def test_the_tutorial_works_with_the_scheme_that_its_reader_writes(tmp_path):
    check(tmp_path, follow(tmp_path, None))
