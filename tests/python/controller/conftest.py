"""Fixtures for tests with real switches (skipped if something is missing), and a hook that runs coroutine tests."""

from __future__ import annotations

import asyncio
import inspect
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "emulation"))

import needs
from jails import in_jail
from waiting import PATIENCE_S
from weft.emulation import iperf, mptcp, openvswitch

HERE = Path(__file__).parent
PROLOGUE = f"""
import re
sys.path[:0] = {[str(HERE), str(HERE.parent)]}
from lab import *
from management import ADDRESS, Management
from waiting import PATIENCE_S, paced
from opening import Opening
from probing import Probing, subflows_of
from steady import Pinging, Relay, calm, counted, leave_behind, looked, rules, steady, steered, swept, unsteered
from takeover import Channel, kept, leads, masters, stands_by
from wall_clock import HOUR_S, WallClock
"""


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    """Run a test that is a coroutine."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    wanted = inspect.signature(pyfuncitem.obj).parameters
    given = {name: pyfuncitem.funcargs[name] for name in wanted}
    asyncio.run(asyncio.wait_for(pyfuncitem.obj(**given), 2 * PATIENCE_S))
    return True


@pytest.fixture(scope="session")
def lab():
    """Runs Python in a jail, with `lab`'s names imported; returns what it `tell`s."""
    needs.root()
    needs.passed(openvswitch.check, mptcp.check, iperf.check)
    return lambda *code: in_jail(PROLOGUE, *code)
