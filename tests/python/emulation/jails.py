"""Runs Python in a jail, for tests that create networks."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

HERE = Path(__file__).parent
_PROLOGUE = """\
from weft.emulation import jail
jail.furnish()
"""


def in_jail(*blocks: str, limit_s: float = 60.0) -> str:
    """The output of Python code run as PID 1 of a furnished jail, with access to these modules; it must succeed."""
    code = "".join(map(textwrap.dedent, (_PROLOGUE, *blocks)))
    done = subprocess.run(
        [
            *("unshare", "--net", "--mount", "--pid", "--fork", "--kill-child=KILL", "--mount-proc", "--"),
            *(sys.executable, "-c", code),
        ],
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])])},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=limit_s,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
