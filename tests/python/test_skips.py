"""A test that cannot run is skipped on a user's machine, and fails where `CI` is set."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TEST = """
import pytest

@pytest.fixture
def network():
    pytest.skip("no fixture here")

def test_fixture(network): pass

@pytest.mark.skipif(True, reason="no mark here")
def test_mark(): pass

def test_call():
    pytest.skip("no call here")

def test_that_runs(): pass
"""
MODULE = "import pytest\npytest.importorskip('no_such_module_of_ours')\ndef test_it(): pass\n"


@pytest.mark.parametrize("ci", [False, True])
def test_every_skip_is_a_failure_with_its_reason_where_ci_is_set(tmp_path, ci):
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_one.py").write_text(TEST)
    (tmp_path / "test_other.py").write_text(MODULE)
    environment = {name: value for name, value in os.environ.items() if name != "CI" and "PYTEST" not in name}
    environment |= {"PYTHONPATH": str(Path(__file__).parent)} | ({"CI": "true"} if ci else {})
    command = [sys.executable, "-m", "pytest", "-p", "skips", "--continue-on-collection-errors"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == (1 if ci else 0), done.stdout
    assert ("1 passed, 4 skipped", "1 failed, 1 passed, 3 errors")[ci] in done.stdout
    for reason in ("no fixture here", "no mark here", "no call here", "could not import 'no_such_module_of_ours'"):
        assert (f"could not run, and CI is set: Skipped: {reason}" in done.stdout) == ci
