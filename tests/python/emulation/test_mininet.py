"""The switch in an ordinary Mininet, started by `mn` itself."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import weft.emulation
from jails import in_jail

CUSTOM = Path(weft.emulation.__file__).parent / "weft_mininet.py"


# Two of the modes that need no routes; each test waits for a hold time of ten seconds.
@pytest.mark.parametrize("mode", ["arp-path", "tcp-path"])
def test_mn_pings_across_a_tree_of_our_switches(switches, mode):
    if shutil.which("mn") is None:
        pytest.skip("`mn` is not installed; run `make emulation`")
    switch = f"weft,mode={mode},hello=100 ms,hold=100"
    words = ["mn", "--custom", str(CUSTOM), "--switch", switch, "--topo", "tree,depth=2", "--controller", "none"]
    code, said = in_jail(
        f"words = {[*words, '--test', 'pingall']}\n",
        """
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        tell([done.returncode, done.stdout])
        """,
    )
    assert code == 0, said
    assert "Results: 0% dropped (12/12 received)" in said
