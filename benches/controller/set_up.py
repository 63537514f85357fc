"""How long paths take to set up: a few hundred sequential MPTCP connections of four subflows.

Measures the time from the first SYN's arrival at the controller until all switches have confirmed, as reported by the
controller, and the duration of `connect` on the host, with Open vSwitch and the kernel's Multipath TCP.
"""

import json
import os
import subprocess
import sys
from typing import Any

from benches.controller.processes import ROOT, LoadError


def measure(connections: int, proactive: int) -> dict[str, Any]:
    """Open connections in a jail of its own, each with `proactive` paths installed when it is requested.

    Raises `LoadError` if the run failed; the reason is on standard error.
    """
    inside = [sys.executable, "-m", "benches.controller.inside", str(connections), str(proactive)]
    jail = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child=KILL", "--mount-proc", "--"]
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run([*jail, *inside], env=os.environ | {"PYTHONPATH": path}, stdout=subprocess.PIPE, check=False)
    if done.returncode:
        raise LoadError("path set-up: the measurement in the jail failed; its error is above")
    figures: dict[str, Any] = json.loads(done.stdout)
    return figures
