"""`weft new`: write a starter scenario, or the crate of a scheme or congestion controller, to edit."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

import typer

from .. import catalogue, plugin_workspace
from ..errors import OutputError
from ..files import write_text
from . import shell
from .scenario_file import other_format

_CRATE = {
    "plugin/Cargo.toml.in": "Cargo.toml",
    "KIND/src/lib.rs": "src/lib.rs",
    "KIND/compare.toml": "compare.toml",
    "plugin/README.md": "README.md",
    "plugin/gitignore": ".gitignore",
}
"""The files of a crate, as they are stored and as they are written."""

_RESERVED = re.compile(
    "abstract|as|async|await|become|box|break|const|continue|crate|do|dyn|else|enum|extern|false|final|fn|for|gen|if|impl"
    "|in|let|loop|macro|match|mod|move|mut|override|priv|pub|ref|return|self|static|struct|super|trait|true|try|type"
    "|typeof|unsafe|unsized|use|virtual|where|while|yield|alloc|core|proc_macro|std|test"
)
"""Names that a crate cannot have."""


class Starter(StrEnum):
    """The available starter scenarios."""

    fat_tree = "fat-tree"
    spine_leaf = "spine-leaf"
    own_fabric = "own-fabric"


@dataclass(frozen=True)
class _Kind:
    """The kind of extension in a crate."""

    title: str
    stored: str
    """The directory of its starter."""
    example: str
    """The name that the starter has."""
    listed: Callable[[], list[dict[str, Any]]]
    """Weft's own, and those of plugins."""


_KINDS = {
    "scheme": _Kind("scheme", "scheme", "flowlet", catalogue.schemes),
    "congestion-control": _Kind("congestion controller", "congestion", "aimd", catalogue.congestion_controls),
}
"""Kinds by the word before the crate's name."""


@shell.guarded
def new(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="FILE|scheme|congestion-control",
            help="Scenario file to write; or the kind of a plugin, to write its crate.",
        ),
    ],
    crate: Annotated[
        Path | None,
        typer.Argument(metavar="[NAME]", help="The name of the scheme or controller; a directory is written."),
    ] = None,
    starter: Annotated[Starter | None, typer.Option("--from", help="Starter to copy (default: spine-leaf).")] = None,
) -> None:
    """Write a commented starter scenario, or the crate of a scheme or congestion controller of your own.

    [bold]Examples[/bold]

      weft new mine.toml
      weft new campus.toml --from own-fabric
      weft new scheme mine
      weft new congestion-control mine
    """
    if kind := _KINDS.get(str(path)):
        if crate is None:
            raise shell.fail(f"`weft new {path}` needs a name", shell.typed("new", path, "mine"))
        if starter is not None:
            raise shell.fail("--from is for scenarios", shell.typed("new", path, crate))
        _write_crate(str(path), kind, crate)
        return
    if crate is not None:
        raise shell.fail(f"`{crate}` is one argument too many", shell.typed("new", path))
    _write_scenario(path, starter or Starter.spine_leaf)


def _write_scenario(path: Path, starter: Starter) -> None:
    form = other_format(path)
    if form is not None:
        raise shell.fail(
            f"{path} names a file in {form}, and a scenario is a TOML file", f"{path.with_suffix('.toml')}"
        )
    text = resources.files("weft").joinpath("starters", f"{starter.value}.toml").read_text(encoding="utf-8")
    files = {path: text.replace("NAME", path.stem)}
    if starter is Starter.own_fabric:
        fabric = resources.files("weft").joinpath("starters", "own-fabric.fabric.toml").read_text(encoding="utf-8")
        name = f"{path.stem}.fabric.toml"
        files = {path: files[path].replace("FABRIC", name), path.with_name(name): fabric}
    for file in files:
        if file.exists():
            raise OutputError(f"{file} already exists: give another name or remove it")
    _write(files)
    shell.say(f"Next: {shell.command_line('run', path)}")


def _write_crate(word: str, kind: _Kind, crate: Path) -> None:
    """Write a crate that is built with the sources and the locked dependencies of this Weft."""
    name = crate.name
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,39}", name) or _RESERVED.fullmatch(name):
        raise shell.fail(
            f"`{name}` cannot be the name of a {kind.title}", "lower-case letters, digits and _, as in my_scheme"
        )
    if any(entry["name"] == name and entry["plugin"] is None for entry in kind.listed()):
        raise shell.fail(f"Weft has a {kind.title} `{name}`", shell.typed("new", word, crate.with_name(f"my_{name}")))
    if crate.exists():
        raise OutputError(f"{crate} already exists: give another name or remove it")
    plugin_workspace.sources()  # Refuses before anything is written.
    starters = resources.files("weft").joinpath("starters")
    files = {}
    for source, target in _CRATE.items():
        text = starters.joinpath(*source.replace("KIND", kind.stored).split("/")).read_text(encoding="utf-8")
        text = text.replace("CRATE", name).replace("TITLE", kind.title)
        files[crate / target] = text.replace(f'"{kind.example}"', f'"{name}"')
    _write(files)
    plugin_workspace.write(crate)
    shell.say(f"Next: {shell.command_line('run', crate / 'compare.toml', '--plugin', crate)}")


def _write(files: dict[Path, str]) -> None:
    for file, content in files.items():
        write_text(file, content)
        shell.out.print(str(file), markup=False, soft_wrap=True)
