"""One run, from outside of the jail: what the jail is given, what it says, what it leaves."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from . import capacity, shaping, tags
from .errors import EmulationError
from .jail import Jail
from .plan import SCHEMES, TAGGED, Plan
from .stack import Stack, choose

Told = Callable[[dict[str, Any]], None]
"""Hears the events of a run, as those of a simulation, and `stage` with what is being done and how far it is."""

_LOG_CHARACTERS = 2_000
"""Of what a jail wrote to its standard error, how much an error quotes."""


@dataclass(frozen=True)
class Prepared:
    """A plan that can be emulated here, and how.

    Attributes:
        plan: The plan.
        stack: The hosts' TCP.
        delays: Whether links delay.
        warnings: What differs from the scenario.
    """

    plan: Plan
    stack: Stack
    delays: bool
    warnings: list[str]


def prepare(plan: Plan) -> Prepared:
    """Find out whether and how a plan can be emulated on this machine.

    Raises:
        EmulationError: It cannot, with the reason and what to do instead.
    """
    if plan.scheme not in SCHEMES:
        raise EmulationError(
            f"scheme `{plan.scheme}` cannot be emulated: the Linux switch does {', '.join(SCHEMES)}",
            "`weft run` simulates it; or `--set 'scheme.name=\"tcp_path\"'`, or a sweep of those",
        )
    for host in plan.hosts:
        ports = len(plan.ports(host.name))
        if ports != 1:
            raise EmulationError(f"host {host.name} has {ports} links; emulated hosts have one")
    most = max((switch.ports for switch in plan.switches), default=0)
    if most > 64:
        raise EmulationError(f"a switch of this fabric has {most} ports, the Linux switch has at most 64")
    if plan.scheme in TAGGED:
        tags.refuse(plan)
    warnings = shaping.refuse_special(plan)
    delays, more = shaping.delay_matters(plan)
    chosen, about_tcp = choose(plan.transport, plan.flows)
    warnings += more + about_tcp + capacity.judge(plan)
    return Prepared(plan, chosen, delays, warnings)


def carry_out(prepared: Prepared, directory: Path, told: Told) -> None:
    """Emulate a plan; `directory` then holds `records.jsonl` and `observed.json`.

    Raises:
        EmulationError: It did not work.
        KeyboardInterrupt: Ctrl-C; nothing is left of the network.
    """
    _write(prepared, directory, prompt=False)
    follow("weft.emulation.inside", directory, told)


def follow(module: str, directory: Path, told: Told) -> None:
    """Have a module carry out in a jail what lies in `directory`, until it has left `observed.json` there.

    Raises:
        EmulationError: It did not work, with what `failed.json` or the log there say.
        KeyboardInterrupt: Ctrl-C; nothing is left of the jail.
    """
    log_path = directory / "emulation.log"
    with log_path.open("wb") as log:
        jail = Jail(module, [str(directory)], log)
        try:
            assert jail.process.stdout is not None
            for line in jail.process.stdout:
                told(_read(line))
            code = jail.process.wait()
        finally:
            jail.end()
    _raise_failure(directory)
    if code != 0 or not (directory / "observed.json").is_file():
        said = log_path.read_text(encoding="utf-8", errors="replace").strip()[-_LOG_CHARACTERS:]
        raise EmulationError(f"the emulation ended with {code}{': ' + said if said else ''}")


def prompt(prepared: Prepared, directory: Path) -> None:
    """Build a plan's network and open Mininet's prompt in it.

    Raises:
        EmulationError: It could not be built.
    """
    _write(prepared, directory, prompt=True)
    # Ctrl-C at the prompt ends what runs there; Mininet's prompt says how to leave.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        jail = Jail("weft.emulation.inside", [str(directory)], None)
        try:
            code = jail.process.wait()
        finally:
            jail.end()
    finally:
        signal.signal(signal.SIGINT, before)
    _raise_failure(directory)
    if code != 0:
        raise EmulationError(f"the emulation ended with {code}")


def _raise_failure(directory: Path) -> None:
    """Raise the error that the jail left, if it did."""
    left = directory / "failed.json"
    if left.is_file():
        said = json.loads(left.read_text(encoding="utf-8"))
        raise EmulationError(said["error"], said["hint"])


def _write(prepared: Prepared, directory: Path, *, prompt: bool) -> None:
    (directory / "plan.json").write_text(prepared.plan.text, encoding="utf-8")
    options = {"stack": asdict(prepared.stack), "delays": prepared.delays, "prompt": prompt}
    (directory / "options.json").write_text(json.dumps(options), encoding="utf-8")


def _read(line: bytes) -> dict[str, Any]:
    try:
        event = json.loads(line)
    except ValueError:
        event = {"event": "text", "text": line.decode(errors="replace")}
    return event if isinstance(event, dict) else {}
