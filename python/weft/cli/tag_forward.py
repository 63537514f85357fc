"""`weft tag-forward`: the control plane of Tag-and-Forward, for a fat-tree of Linux switches."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from .. import files, quantity
from ..labels import plural
from ..sockets import RUN_DIR
from ..tag_forward.errors import TagForwardError
from . import shell
from .help_pages import Commands
from .scenario_file import Sets

if TYPE_CHECKING:
    from ..tag_forward.fabric import FatTree
    from ..tag_forward.fleet import Fleet, OnProgress
    from ..tag_forward.provisioning import Outcome

app = Commands(no_args_is_help=True)


class Width(StrEnum):
    """Bit layout of tags."""

    narrow = "narrow"
    wide = "wide"


FabricFile = Annotated[
    Path,
    typer.Argument(metavar="FABRIC", help="Fat-tree: a fabric file (.toml, .graphml, .json) or a scenario."),
]
Tag = Annotated[Width, typer.Option(help="Tag format: narrow (the paper's, k up to 24) or wide (larger fat-trees).")]
Gates = Annotated[
    Path | None,
    typer.Option("--gates", metavar="FILE", help="Use these gates after checking them; format of `plan --json`."),
]
Hosts = Annotated[
    Path | None,
    typer.Option(
        "--hosts",
        metavar="FILE",
        help="Host addresses, in the format of /etc/hosts (default: 10.0.0.1 onwards, in the fabric's order).",
    ),
]
Sockets = Annotated[
    Path, typer.Option("--sockets", metavar="DIR", help="Directory of the daemons' control sockets, SWITCH.sock.")
]


@app.callback()
def tag_forward() -> None:
    """Plan and provision Tag-and-Forward on a fat-tree of Linux switches."""


@app.command()
@shell.guarded
def plan(
    fabric: FabricFile,
    sets: Sets = None,
    width: Tag = Width.narrow,
    gates: Gates = None,
    switch: Annotated[str | None, typer.Option(metavar="SWITCH", help="Show the gates of one switch.")] = None,
    routes: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="A B", help="Show all paths from host A to host B, with their tags."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show the gates of a fat-tree and the paths that tags select.

    Contacts no switch. If the fabric is not wired as a fat-tree, the error names the wrong links.

    [bold]Examples[/bold]

      weft tag-forward plan scenarios/tag-forward.toml
      weft tag-forward plan fabric.toml --switch a0
      weft tag-forward plan fabric.toml --routes h0 h14
      weft tag-forward plan fabric.toml --width wide --json > gates.json
    """
    from ..tag_forward import tables

    tree = _tree(fabric, sets, width, gates)
    if switch is not None and routes is not None:
        raise TagForwardError("--switch and --routes cannot be combined", "one of them")
    if switch is not None:
        shown = tree.gates[tree.named(switch)]
        if as_json:
            shell.print_json(shown)
        else:
            tables.show_gates(shell.out, tree, shown["switch"])
    elif routes is not None:
        ways = tree.routes(*routes)
        if as_json:
            shell.print_json(ways)
        else:
            tables.show_routes(shell.out, ways)
    elif as_json:
        shell.print_json(tree.data)
    else:
        tables.show_plan(shell.out, tree)


@app.command()
@shell.guarded
def provision(
    fabric: FabricFile,
    sets: Sets = None,
    width: Tag = Width.narrow,
    gates: Gates = None,
    hosts: Hosts = None,
    sockets: Sockets = RUN_DIR,
    watch: Annotated[
        bool,
        typer.Option(
            "--watch", help="Keep running: reroute around failed links, and provision switches that come back."
        ),
    ] = False,
    on_demand: Annotated[
        bool,
        typer.Option("--on-demand", help="Install rules at the first packet of each pair; keeps running, as --watch."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the outcome as JSON.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="While running, also log every pair.")] = False,
) -> None:
    """Install gates on all switches of a fat-tree, and rules on those with hosts, in parallel.

    First compares the switches' neighbours with the fabric; if links are miswired, it names them and changes nothing.
    Skips paths over links that are down, and switches whose daemon does not respond; the exit code is then 1. Repeat
    the command to complete the configuration.

    [bold]Examples[/bold]

      sudo weft tag-forward provision fabric.toml
      sudo weft tag-forward provision fabric.toml --hosts /etc/hosts --sockets /run/weft
      sudo weft tag-forward provision fabric.toml --watch
      sudo weft tag-forward provision fabric.toml --on-demand
    """
    from .. import log
    from ..tag_forward import provisioning
    from ..tag_forward import watch as watching

    with asyncio.Runner() as runner:
        tree = _tree(fabric, sets, width, gates)
        fleet = _fleet(tree, hosts, sockets, on_demand)
        with _progress() as on_progress:
            outcome = runner.run(provisioning.provision(fleet, on_progress))
        if as_json:
            shell.print_json(outcome.as_dict())
        else:
            _tell(outcome)
        if watch or on_demand:
            with log.lines("weft.tag_forward", verbose=verbose, quiet=False):
                runner.run(watching.watch(fleet, outcome.provisioned))
        elif outcome.failed:
            number = plural(len(outcome.failed), "switch", "switches")
            raise shell.fail(
                f"{number} of {len(tree.switches)} not provisioned: {', '.join(outcome.failed)}",
                "fix the cause and repeat the command: the other switches keep their configuration",
                shell.FAILED,
            )


@app.command()
@shell.guarded
def show(
    fabric: FabricFile,
    sets: Sets = None,
    width: Tag = Width.narrow,
    gates: Gates = None,
    hosts: Hosts = None,
    sockets: Sockets = RUN_DIR,
    on_demand: Annotated[
        bool, typer.Option("--on-demand", help="Expect only rules of pairs that have sent packets.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show the state of all switches of a fat-tree, and differences from the plan.

    The plan omits paths over links that are down. The exit code is 1 if a switch differs or does not respond, or a link
    is miswired. [bold]weftctl[/bold] shows the rules of one switch.

    [bold]Examples[/bold]

      sudo weft tag-forward show fabric.toml
      sudo weft tag-forward show fabric.toml --on-demand
      sudo weft tag-forward show fabric.toml --json
    """
    from ..tag_forward import tables
    from ..tag_forward.state import state

    with asyncio.Runner() as runner:
        found = runner.run(state(_fleet(_tree(fabric, sets, width, gates), hosts, sockets, on_demand)))
    if as_json:
        shell.print_json(found.as_dict())
    else:
        tables.show_state(shell.out, found)
    if not found.as_planned:
        raise typer.Exit(shell.FAILED)


def _tell(outcome: Outcome) -> None:
    """Print the installed rules, the time that it took, and the missing parts."""
    for port in outcome.silent:
        shell.warn(f"{port}: not on any path")
    changed = ", ".join(f"{number:,} {what}" for what, number in outcome.rules.items() if number) or "none"
    shell.say(
        f"{plural(len(outcome.provisioned), 'switch', 'switches')}: {plural(outcome.gates, 'gate')} in"
        f" {quantity.seconds(outcome.gates_s)}, rules in {quantity.seconds(outcome.rules_s)} ({changed})"
    )
    for error in outcome.failed.values():
        shell.err.print(f"  {error}", markup=False, soft_wrap=True)


def _tree(fabric: Path, sets: list[str] | None, width: Width, gates: Path | None) -> FatTree:
    from ..tag_forward import inputs
    from ..tag_forward.fabric import FatTree

    plan = inputs.plan(fabric, width.value, sets or [], gates)
    for warning in plan.warnings():
        shell.warn(warning)
    return FatTree(plan)


def _fleet(tree: FatTree, hosts: Path | None, directory: Path, on_demand: bool) -> Fleet:
    """The switches of a fat-tree, with the addresses of its hosts and the sockets of its daemons."""
    from ..tag_forward import inputs
    from ..tag_forward.fleet import Fleet

    addresses = inputs.addresses(tree.hosts, hosts)
    # Two descriptors per daemon.
    files.allow_many()
    if not directory.is_dir():
        raise TagForwardError(f"--sockets: no such directory: {directory}", "the daemons' `--run-dir`")
    for switch in tree.switches:
        # Same rule as in crates/switchd/src/names.rs.
        if not re.fullmatch(r"[A-Za-z0-9_-]{1,32}", switch):
            raise TagForwardError(
                f"--fabric: {switch!r} is not a valid switch name for weft-switchd",
                "1 to 32 letters, digits, `-` and `_`: switch names are used for files and BPF pins",
            )
    sockets = {switch: directory / f"{switch}.sock" for switch in tree.switches}
    return Fleet(tree, addresses, sockets, on_demand=on_demand)


@contextmanager
def _progress() -> Iterator[OnProgress]:
    """A progress bar of the switches configured, drawn only on a terminal."""
    columns = (TextColumn("{task.description}"), BarColumn(18), MofNCompleteColumn())
    with Progress(*columns, console=shell.err, transient=True, disable=not shell.err.is_terminal) as bars:
        task = bars.add_task("", total=None)

        def on_progress(stage: str, done: int, number: int) -> None:
            bars.update(task, description=stage, completed=done, total=number)

        yield on_progress
