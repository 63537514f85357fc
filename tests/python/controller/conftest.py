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
from weft.emulation import iperf, mptcp, openvswitch

HERE = Path(__file__).parent
PROLOGUE = f"""
import re
sys.path[:0] = {[str(HERE), str(HERE.parents[2])]}
from benches.controller.lab import *
from probing import Probing, subflows_of
from steady import Pinging, Relay, rules, steady, steered
"""


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    """Run a test that is a coroutine, for at most 20 seconds."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    wanted = inspect.signature(pyfuncitem.obj).parameters
    asyncio.run(asyncio.wait_for(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in wanted}), 20))
    return True


@pytest.fixture(scope="session")
def lab():
    """Runs Python in a jail, with `lab`'s names imported; returns what it `tell`s."""
    needs.root()
    needs.passed(openvswitch.check, mptcp.check, iperf.check)
    return lambda *code, limit_s=90.0: in_jail(PROLOGUE, *code, limit_s=limit_s)
