"""Files of the project agree: licences, pinned actions, scenarios of the package."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
import typer

from weft.cli import app

ROOT = Path(__file__).parents[2]


def test_every_file_of_bpf_names_licences_whose_texts_are_in_licenses():
    named = set()
    for path in sorted((ROOT / "bpf").glob("*.[ch]")):
        found = re.match(r"/\* SPDX-License-Identifier: (.+)\n", path.read_text())
        assert found, path
        named |= set(found[1].split(" OR "))
    assert named == {path.stem for path in (ROOT / "LICENSES").iterdir()}
    assert (ROOT / "LICENSES" / "Apache-2.0.txt").read_text() == (ROOT / "LICENSE").read_text()


def test_the_programs_declare_to_the_kernel_what_their_files_say():
    for path in sorted((ROOT / "bpf").glob("*.c")):
        assert 'char _license[] SEC("license") = "Dual MIT/GPL";' in path.read_text(), path


def test_actions_of_workflows_are_pinned_to_commits():
    for workflow in sorted((ROOT / ".github" / "workflows").glob("*.yml")):
        for used in re.findall(r"uses: (\S+)", workflow.read_text()):
            assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", used), used


def test_a_plugin_is_built_from_the_crates_whose_sources_are_its_identity():
    copied = (ROOT / "scripts" / "plugin_sources.py").read_text().split("CRATES = (", 1)[1].split(")", 1)[0]
    hashed = (ROOT / "crates" / "plugin" / "build.rs").read_text().split("CRATES: &[&str] = &[", 1)[1].split("]", 1)[0]
    assert re.findall(r'"(\w+)"', copied) == re.findall(r'"(\w+)"', hashed) != []


def test_every_scenario_is_in_the_package():
    package = ROOT / "python" / "weft"
    listed = subprocess.run(["git", "ls-files", "scenarios"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in listed.stdout.split():
        assert (package / name).resolve() == (ROOT / name).resolve(), f"missing link: python/weft/{name}"
    assert [path for path in (package / "scenarios").rglob("*") if not path.exists()] == []


def test_every_target_makes_the_virtual_environment_before_it_writes_there(tmp_path):
    """Two targets run at the same time under `make test`: one that writes there first makes `python3 -m venv` fail."""
    targets = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(), re.M))
    venv = str(tmp_path / "venv")
    users = set()
    for target in sorted(targets):
        dry = ["make", "--dry-run", "--no-print-directory", f"VENV={venv}", target]
        printed = subprocess.run(dry, cwd=ROOT, capture_output=True, text=True, check=True).stdout
        naming = [line for line in printed.splitlines() if venv in line and not line.startswith("make ")]
        if naming:
            users.add(target)
            assert naming[0] == f"python3 -m venv {venv}", target
    assert users > {"project", "style", "build", "test"}


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
@pytest.mark.parametrize("unit", ["weft-controller", "weft-tag-forward"])
def test_the_units_are_ones_that_systemd_takes_and_give_up_privileges(unit, tmp_path):
    text = (ROOT / "packaging" / f"{unit}.service").read_text()
    command = re.search(r"^ExecStart=/usr/bin/weft (.*) \$OPTIONS$", text, re.M)
    assert command
    typer.main.get_command(app).make_context("weft", shlex.split(command[1]), resilient_parsing=True)
    default = (ROOT / "packaging" / f"{unit}.default").read_text()
    assert re.search(r'^OPTIONS="--', default, re.M)
    # systemd-analyze checks that programs exist.
    copy = tmp_path / f"{unit}.service"
    copy.write_text(text.replace("/usr/bin/weft ", "/bin/true "))
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", copy], capture_output=True, text=True, check=False)
    assert [line for line in done.stderr.splitlines() if unit in line] == []
    rated = ["systemd-analyze", "security", "--offline=yes", copy]
    score = subprocess.run(rated, capture_output=True, text=True, check=False).stdout
    exposure = re.search(r"exposure level for \S+: ([\d.]+)", score)
    assert exposure and float(exposure[1]) < 2.5
