"""How long paths take to set up: a few hundred MPTCP connections of four subflows, one after the other.

Measures how long a path takes from the first SYN's arrival at the controller until all switches have confirmed, as the
controller has it, and how long `connect` takes as the host has it: with Open vSwitch and the kernel's Multipath TCP.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from benches.controller.processes import ROOT, LoadError


def measure(connections: int, proactive: int, profile: Path | None) -> dict[str, Any]:
    """Run it in a jail of its own.

    Args:
        connections: How many are opened.
        proactive: Paths that are installed when one is wanted.
        profile: Where to write what cProfile sees of the controller.

    Raises:
        LoadError: It came to nothing; why is on standard error.
    """
    inside = [sys.executable, "-m", "benches.controller.inside", str(connections), str(proactive)]
    if profile is not None:
        inside.append(str(profile.resolve()))
    jail = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child=KILL", "--mount-proc", "--"]
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run([*jail, *inside], env=os.environ | {"PYTHONPATH": path}, stdout=subprocess.PIPE, check=False)
    if done.returncode:
        raise LoadError("path set-up was not measured")
    figures: dict[str, Any] = json.loads(done.stdout)
    return figures
