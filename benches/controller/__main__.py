"""`python -m benches.controller`: a few hundred MPTCP connections of four subflows, one after the other.

Measures how long a path takes from the first SYN's arrival at the controller until all switches have confirmed, as the
controller has it, and how long `connect` takes as the host has it, beside a connection whose rules are there already.
`--profile` says where the controller spends its time.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def main() -> None:
    """Run it in a jail of its own, print JSON."""
    reader = argparse.ArgumentParser(prog="python -m benches.controller", description=__doc__)
    reader.add_argument("--connections", type=int, default=300, metavar="N")
    reader.add_argument("--proactive", type=int, default=4, metavar="N", help="paths installed when one is wanted")
    reader.add_argument("--profile", type=Path, metavar="FILE", help="write the controller's profile (cProfile)")
    given = reader.parse_args()
    inside = [sys.executable, "-m", "benches.controller.inside", str(given.connections), str(given.proactive)]
    if given.profile is not None:
        inside.append(str(given.profile.resolve()))
    jail = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child=KILL", "--mount-proc", "--"]
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run([*jail, *inside], env=os.environ | {"PYTHONPATH": path}, stdout=subprocess.PIPE, check=False)
    if done.returncode:
        sys.exit(done.returncode)
    print(json.dumps(json.loads(done.stdout), indent=2))


if __name__ == "__main__":
    main()
