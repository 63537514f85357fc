"""One run, from outside the jail: its inputs, progress and results."""

import json
import signal
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from . import capacity, shaping, tags
from .errors import EmulationError
from .jail import Jail
from .plan import SCHEMES, Plan
from .stack import Stack, choose

OnEvent = Callable[[dict[str, Any]], None]
"""Receives the events of a run, as for a simulation, plus `stage` with the current stage and its progress."""

_LOG_CHARACTERS = 2_000
"""Number of last characters of a jail's standard error quoted in an error."""


@dataclass(frozen=True)
class Prepared:
    """A plan that can be emulated here, the hosts' TCP, whether links have delays, and differences from the plan."""

    plan: Plan
    stack: Stack
    delays: bool
    warnings: list[str]


def prepare(plan: Plan) -> Prepared:
    """Check whether a plan can be emulated on this machine, and how.

    Raises `EmulationError` if it cannot, with the reason and the fix.
    """
    if plan.mode is None:
        raise EmulationError(
            f"scheme `{plan.scheme}` cannot be emulated: the Linux switch supports {', '.join(SCHEMES)}",
            "`weft run` simulates it; or `--set 'scheme.name=\"tcp_path\"'`, or a sweep of supported schemes",
        )
    over = plan.params.get("over", "arp_path")
    if over != "arp_path":
        raise EmulationError(
            f"`scheme.over` is {over}, but the Linux switch forwards frames without a path by ARP-Path",
            "`weft run` simulates it; or `--set 'scheme.over=\"arp_path\"'`",
        )
    for host in plan.hosts:
        ports = len(plan.ports(host.name))
        if ports != 1:
            raise EmulationError(f"host {host.name} has {ports} links; emulated hosts have one")
    most = max((switch.ports for switch in plan.switches), default=0)
    if most > 64:
        raise EmulationError(f"a switch of this fabric has {most} ports; the Linux switch supports at most 64")
    if plan.flows_waiting:
        raise EmulationError(
            f"{plan.flows_waiting} flows wait for others: `weft-loadgen` starts flows at fixed times",
            "`weft run` simulates them; or use a trace or flow list without dependencies",
        )
    _refuse_changes(plan)
    if plan.tags:
        tags.refuse(plan)
    warnings = shaping.refuse_special(plan)
    delays, more = shaping.delay_matters(plan)
    chosen, about_tcp = choose(plan.transport, plan.flows)
    warnings += more + about_tcp + capacity.judge(plan)
    return Prepared(plan, chosen, delays, warnings)


def _refuse_changes(plan: Plan) -> None:
    """Reject events that an emulation cannot carry out.

    Raises `EmulationError` if an event changes the rate or the losses of links.
    """
    for event in plan.events:
        if event.up is None:
            raise EmulationError(
                f"the event at {event.at_ps / 1e12:g} s cannot be emulated: {event.change} {event.target}",
                "emulations support fail, heal, fail_node, heal_node and flap; `weft run` simulates the others",
            )


def carry_out(prepared: Prepared, directory: Path, on_event: OnEvent) -> None:
    """Emulate a plan; `directory` then holds `records.jsonl` and `observed.json`.

    Raises `EmulationError` if that failed; on `KeyboardInterrupt`, the network is removed.
    """
    _write(prepared, directory, prompt=False)
    follow("weft.emulation.inside", directory, on_event)


def follow(module: str, directory: Path, on_event: OnEvent, *, beside: Path | None = None) -> None:
    """Run a module in a jail on the files in `directory`, until it has written `observed.json` there.

    For a module outside the package `weft`, `beside` is the directory to import it from.

    Raises `EmulationError` if it failed, with the message from `failed.json` or the log; on `KeyboardInterrupt`, the
    jail is removed.
    """
    log_path = directory / "emulation.log"
    with log_path.open("wb") as log:
        jail = Jail(module, [str(directory)], log, beside=beside)
        try:
            assert jail.process.stdout is not None
            for line in jail.process.stdout:
                on_event(_read(line))
            code = jail.process.wait()
        finally:
            jail.end()
    _raise_failure(directory)
    if code != 0 or not (directory / "observed.json").is_file():
        said = log_path.read_text(encoding="utf-8", errors="replace").strip()[-_LOG_CHARACTERS:]
        raise EmulationError(f"the emulation exited with code {code}{': ' + said if said else ''}", begun=True)


def prompt(prepared: Prepared, directory: Path) -> None:
    """Build a plan's network and open Mininet's prompt in it. Raises `EmulationError` if it could not be built."""
    _write(prepared, directory, prompt=True)
    # Ctrl-C at the prompt interrupts commands there; Mininet's prompt shows how to leave.
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
        raise EmulationError(f"the emulation exited with code {code}", begun=True)


def _raise_failure(directory: Path) -> None:
    left = directory / "failed.json"
    if left.is_file():
        said = json.loads(left.read_text(encoding="utf-8"))
        raise EmulationError(said["error"], said["hint"], begun=True)


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
