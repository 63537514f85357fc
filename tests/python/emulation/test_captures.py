"""The script that creates `captures.json` reproduces the stored captures with this machine's kernel."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from waiting import PATIENCE_S

WIRE = Path(__file__).parents[3] / "crates" / "wire"
STORED = {capture["name"]: capture for capture in json.loads((WIRE / "captures.json").read_text())["captures"]}
SCENE = """
import json
from captures import network, scenes
network.enter_jail()
print(json.dumps(scenes.{}()))
"""


def shape(capture):
    """The properties that are equal in all runs: joins, by which side, and whether they were confirmed."""
    joins = [[(one["by"], one["confirmed"]) for one in each["subflows"]] for each in capture["connections"]]
    agreed = [(each["mptcp"], each["version"]) for each in capture["connections"]]
    return capture["name"], agreed, joins, len(capture["strays"])


@pytest.mark.parametrize("scene", ["three_joins", "joins_by_the_server", "forged_join", "refused", "ports_again"])
def test_the_kernel_does_it_again(root, scene):
    if not Path("/proc/sys/net/mptcp/enabled").exists():
        pytest.skip("this kernel has no Multipath TCP")
    command = [sys.executable, "-c", SCENE.format(scene)]
    environment = {**os.environ, "PYTHONPATH": str(WIRE)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done.stderr
    capture = json.loads(done.stdout)
    assert shape(capture) == shape(STORED[capture["name"]])
