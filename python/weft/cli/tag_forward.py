"""`weft tag-forward`: the control plane of Tag-and-Forward, for a fat-tree of Linux switches."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from .. import quantity
from ..labels import plural
from ..tag_forward.errors import TagForwardError
from ..tag_forward.fabric import FatTree
from ..tag_forward.fleet import Fleet, Told
from . import shell
from .run import Sets

app = typer.Typer(
    rich_markup_mode="rich",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Width(StrEnum):
    """How tags divide their bits."""

    narrow = "narrow"
    wide = "wide"


FabricFile = Annotated[
    Path,
    typer.Argument(metavar="FABRIC", help="The fat-tree: a fabric file (.toml, .graphml, .json), or a scenario."),
]
Tag = Annotated[Width, typer.Option(help="The tag: the paper's, for k up to 24, or the one for larger fat-trees.")]
Gates = Annotated[
    Path | None,
    typer.Option("--gates", metavar="FILE", help="Use these gates, once they are found right: as `plan --json`."),
]
Hosts = Annotated[
    Path | None,
    typer.Option(
        "--hosts",
        metavar="FILE",
        help="The hosts' addresses, as in /etc/hosts (default: 10.0.0.1 and on, in the fabric's order).",
    ),
]
Sockets = Annotated[
    Path, typer.Option("--sockets", metavar="DIR", help="Where the daemons' control sockets are, SWITCH.sock each.")
]
_RUN_DIR = Path("/run/weft")


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
        typer.Option(metavar="A B", help="Show all ways from host A to host B, with their tags."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show the gates of a fat-tree: what every switch is to be told, and the ways that tags lead.

    Nothing is asked of any switch. A fabric whose cables are not those of a fat-tree is refused, and they are named.

    [bold]Examples[/bold]

      weft tag-forward plan scenarios/tag-forward.toml

      weft tag-forward plan fabric.toml --switch a0

      weft tag-forward plan fabric.toml --routes h0 h14

      weft tag-forward plan fabric.toml --width wide --json > gates.json
    """
    from ..tag_forward import tables

    with _explained():
        tree = _tree(fabric, sets, width, gates)
        if switch is not None and routes is not None:
            raise TagForwardError("--switch and --routes show different things", "one of them")
        if switch is not None:
            shown = tree.gates[tree.named(switch)]
            if as_json:
                print(json.dumps(shown))
            else:
                tables.show_gates(shell.out, tree, shown["switch"])
        elif routes is not None:
            ways = tree.routes(*routes)
            if as_json:
                print(json.dumps(ways))
            else:
                tables.show_routes(shell.out, ways)
        elif as_json:
            print(json.dumps(tree.data))
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
    sockets: Sockets = _RUN_DIR,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was done as JSON.")] = False,
) -> None:
    """Give every switch of a fat-tree its gates and, where hosts hang on it, its rules; all switches at once.

    First what the switches hear of each other is held against the fabric: where cables are elsewhere they are named,
    and nothing is changed. Ways over cables that do not work are left out. A switch whose daemon does not answer is
    left out, too: the exit code is then 1, and the same command again completes it.

    [bold]Examples[/bold]

      sudo weft tag-forward provision fabric.toml

      sudo weft tag-forward provision fabric.toml --hosts /etc/hosts --sockets /run/weft
    """
    from ..tag_forward.provisioning import provision as carry_out

    with _explained():
        tree = _tree(fabric, sets, width, gates)
        fleet = _fleet(tree, hosts, sockets)

        async def run(told: Told) -> object:
            try:
                return await carry_out(fleet, told)
            finally:
                fleet.close()

        with _progress() as told:
            outcome = asyncio.run(run(told))
    from ..tag_forward.provisioning import Outcome

    assert isinstance(outcome, Outcome)
    if as_json:
        print(json.dumps(outcome.as_dict(), ensure_ascii=False))
    for port in outcome.silent:
        shell.warn(f"{port}: no way leads over it")
    if not as_json:
        _tell(outcome.told, outcome.gates, outcome.gates_s, dict(outcome.rules), outcome.rules_s)
    if outcome.failed:
        for error in outcome.failed.values():
            shell.err.print(f"  {error}", markup=False, soft_wrap=True)
        number = plural(len(outcome.failed), "switch", "switches")
        raise shell.fail(
            f"{number} of {len(tree.switches)} not provisioned: {', '.join(outcome.failed)}",
            "mend the cause and give the same command again: what the others have stays",
            shell.FAILED,
        )


def _tell(told: list[str], gates: int, gates_s: float, rules: dict[str, int], rules_s: float) -> None:
    """Say what was done and how long it took."""
    changed = ", ".join(f"{number:,} {what}" for what, number in rules.items() if number) or "none"
    shell.say(
        f"{plural(len(told), 'switch', 'switches')}: {plural(gates, 'gate')} in {quantity.seconds(gates_s)},"
        f" rules in {quantity.seconds(rules_s)} ({changed})"
    )


@contextmanager
def _explained() -> Iterator[None]:
    """Errors with what to do about them."""
    try:
        yield
    except TagForwardError as error:
        raise shell.fail(str(error), error.hint) from None


def _tree(fabric: Path, sets: list[str] | None, width: Width, gates: Path | None) -> FatTree:
    from ..tag_forward import inputs

    return FatTree(inputs.plan(fabric, width.value, sets or [], gates))


def _fleet(tree: FatTree, hosts: Path | None, sockets: Path) -> Fleet:
    from ..tag_forward import inputs

    if not sockets.is_dir():
        raise TagForwardError(f"--sockets: there is no directory {sockets}", "that of the daemons' `--run-dir`")
    paths = {switch: sockets / f"{switch}.sock" for switch in tree.switches}
    return Fleet(tree, inputs.addresses(tree.hosts, hosts), paths)


@contextmanager
def _progress() -> Iterator[Told]:
    """Draws how many switches have been told, where there is a terminal and while it takes a moment."""
    columns = (TextColumn("{task.description}"), BarColumn(18), MofNCompleteColumn())
    with Progress(*columns, console=shell.err, transient=True, disable=not shell.err.is_terminal) as bars:
        task = bars.add_task("", total=None)

        def told(stage: str, done: int, number: int) -> None:
            bars.update(task, description=stage, completed=done, total=number)

        yield told
