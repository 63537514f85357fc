"""The type hints are complete: a strictly checked script may use every public name."""

from __future__ import annotations

import re
import subprocess
import sys
import warnings
from pathlib import Path

import typed_api
import weft

SCRIPT = Path(typed_api.__file__)


def test_the_script_uses_every_public_name():
    used = set(re.findall(r"\bweft\.(\w+)", SCRIPT.read_text()))
    assert set(weft.__all__) - used == set()


def test_a_script_that_uses_all_of_weft_is_typed_strictly():
    command = [sys.executable, "-m", "mypy", "--strict", str(SCRIPT)]
    done = subprocess.run(command, cwd=SCRIPT.parents[2], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_script_runs(tmp_path, capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        typed_api.main(tmp_path)
    assert "['cdf.svg', 'report.html', 'fct-mean.pdf', 'fct-mean.png']" in capsys.readouterr().out
