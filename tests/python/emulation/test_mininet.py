"""The switch in an ordinary Mininet, started by `mn` itself."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import weft.emulation

CUSTOM = Path(weft.emulation.__file__).parent / "weft_mininet.py"

IN_A_JAIL = """
import subprocess, sys
from weft.emulation import jail
jail.furnish()
sys.exit(subprocess.run(sys.argv[1:], stdout=2).returncode)
"""


@pytest.mark.parametrize("mode", ["arp-path", "tcp-path"])
def test_mn_pings_across_a_tree_of_our_switches(switches, tmp_path, mode):
    if shutil.which("mn") is None:
        pytest.skip("`mn` is not installed; run `make emulation`")
    (tmp_path / "mnjail.py").write_text(IN_A_JAIL)
    switch = f"weft,mode={mode},hello=100 ms,hold=3"
    words = ["mn", "--custom", CUSTOM, "--switch", switch, "--topo", "tree,depth=2", "--controller", "none"]
    with (tmp_path / "log").open("wb") as log:
        done = subprocess.run(
            [
                *("unshare", "--net", "--mount", "--pid", "--fork", "--kill-child=KILL", "--mount-proc", "--"),
                *(sys.executable, "-m", "mnjail", *map(str, words), "--test", "pingall"),
            ],
            env=os.environ | {"PYTHONPATH": str(tmp_path)},
            stdin=subprocess.DEVNULL,
            stderr=log,
            timeout=90,
            check=False,
        )
    said = (tmp_path / "log").read_text()
    assert done.returncode == 0, said
    assert "Results: 0% dropped (12/12 received)" in said
