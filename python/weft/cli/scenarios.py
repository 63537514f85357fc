"""`weft scenarios`: copy the scenarios that come with Weft."""

from pathlib import Path
from typing import Annotated

import typer

from .. import bundle
from ..labels import plural
from . import shell


@shell.guarded
def scenarios(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Directory to copy to.")] = Path("scenarios"),
) -> None:
    """Copy the scenarios of Weft's documentation into a directory.

    Each begins with a comment on its purpose. Files with your changes are not overwritten.

    [bold]Examples[/bold]

      weft scenarios
      weft scenarios /tmp/examples
    """
    paths = bundle.copy(directory)
    for path in paths:
        shell.out.print(str(path), markup=False, soft_wrap=True)
    shell.say(f"{plural(len(paths), 'file')}. Next: {shell.command_line('run', directory / 'quickstart.toml')}")
