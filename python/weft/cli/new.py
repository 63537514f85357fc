"""`weft new`: write a starter scenario to edit."""

from __future__ import annotations

from enum import StrEnum
from importlib import resources
from pathlib import Path
from typing import Annotated

import typer

from ..errors import OutputError
from ..files import write_text
from . import shell


class Starter(StrEnum):
    """The available starter scenarios."""

    fat_tree = "fat-tree"
    spine_leaf = "spine-leaf"
    own_fabric = "own-fabric"


@shell.guarded
def new(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="Scenario file to write.")],
    starter: Annotated[Starter, typer.Option("--from", help="Starter to copy.")] = Starter.spine_leaf,
) -> None:
    """Write a commented starter scenario.

    [bold]Examples[/bold]

      weft new mine.toml
      weft new campus.toml --from own-fabric
    """
    text = resources.files("weft").joinpath("starters", f"{starter.value}.toml").read_text(encoding="utf-8")
    files = {path: text.replace("NAME", path.stem)}
    if starter is Starter.own_fabric:
        fabric = resources.files("weft").joinpath("starters", "own-fabric.fabric.toml").read_text(encoding="utf-8")
        name = f"{path.stem}.fabric.toml"
        files = {path: files[path].replace("FABRIC", name), path.with_name(name): fabric}
    for file in files:
        if file.exists():
            raise OutputError(f"{file} already exists: give another name or remove it")
    for file, content in files.items():
        write_text(file, content)
        shell.out.print(str(file), markup=False, soft_wrap=True)
    shell.say(f"Next: {shell.command_line('run', path)}")
