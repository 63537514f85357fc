"""Runs Python in a jail, for tests that create networks; and functions for use there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

from weft.emulation.errors import EmulationError

HERE = Path(__file__).parent
_PLACES = (str(HERE), str(HERE.parent))
_LIMIT_S = 400.0
_PROLOGUE = """\
from weft.emulation import jail
from weft.emulation.capacity import go_first
go_first()
jail.furnish()
import json, os, subprocess, sys, time
from jails import refusal, sh, tell
"""


def in_jail(*blocks: str) -> Any:
    """What Python code `tell`s as PID 1 of a furnished jail, with access to these modules; it must succeed."""
    code = "".join(map(textwrap.dedent, (_PROLOGUE, *blocks)))
    done = subprocess.run(
        [
            *("unshare", "--net", "--mount", "--pid", "--fork", "--kill-child=KILL", "--mount-proc", "--"),
            *(sys.executable, "-c", code),
        ],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, [*_PLACES, os.environ.get("PYTHONPATH")]))},
        stdin=subprocess.DEVNULL,
        start_new_session=True,
        capture_output=True,
        text=True,
        timeout=_LIMIT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def tell(value: Any = None, **values: Any) -> None:
    """Print a value, or several with their names, for the test."""
    print(json.dumps(values if value is None else value))


def sh(command: str, check: bool = True) -> str:
    """The output of a shell command."""
    done = subprocess.run(command, shell=True, check=False, capture_output=True, text=True)
    assert done.returncode == 0 or not check, f"{command}: {done.stderr}"
    return done.stdout


def refusal(work: Callable[..., object], *arguments: object, **options: object) -> str:
    """The message of the error that `work` raises; an empty string if it raises none."""
    try:
        work(*arguments, **options)
    except EmulationError as error:
        return str(error)
    return ""
