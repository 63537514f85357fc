"""`weft --man` and `weft --completion`: manual pages from the tree of commands, completion scripts from Typer.

`crates/manual` has the same two options for the programs in Rust.
"""

import os
import re
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Any

import typer
from rich.text import Text
from typer import completion

from .. import __version__
from ..files import write_text

_VARIABLE = "_WEFT_COMPLETE"


class Shell(StrEnum):
    """Shells with completion."""

    bash = "bash"
    zsh = "zsh"
    fish = "fish"


def script(shell: Shell) -> str:
    """The completion script of a shell; it asks `weft` itself."""
    # Typer has no public name for it.
    made = completion.get_completion_script(  # type: ignore[attr-defined]
        prog_name="weft", complete_var=_VARIABLE, shell=shell.value
    )
    if shell is Shell.zsh:
        # Autoloaded from a directory of `fpath`, the file is the body of the function, called for the first time.
        made += '\n[ "$funcstack[1]" = _weft ] && _weft_completion "$@"\n'
    return made


def answer_shell() -> None:
    """Prepare for the question of a completion script, if this is one."""
    if _VARIABLE in os.environ:
        completion.completion_init()  # type: ignore[attr-defined]


def write_pages(group: Any, directory: Path) -> list[Path]:
    """Write a manual page for the command `weft` (`group`, as made by Typer) and each of its subcommands.

    Raises `OutputError` if a file cannot be written.
    """
    written = []
    for context in _contexts(typer.Context(group, info_name="weft")):
        path = directory / f"{context.command_path.replace(' ', '-')}.1"
        write_text(path, "\n".join(_page(context)) + "\n")
        written.append(path)
    return written


def _contexts(context: Any) -> Iterator[Any]:
    yield context
    for name, command in sorted(getattr(context.command, "commands", {}).items()):
        yield from _contexts(typer.Context(command, info_name=name, parent=context))


def _page(context: Any) -> Iterator[str]:
    command, name = context.command, context.command_path.replace(" ", "-")
    about, *rest = _paragraphs(command.help or "")
    yield f'.TH "{_roff(name.upper())}" "1" "" "Weft {__version__}" "Weft"'
    yield from (".SH NAME", f"{_roff(name)} \\- {_roff(about.rstrip('.').replace(chr(10), ' '))}")
    yield from (".SH SYNOPSIS", rf"\fB{_roff(context.command_path)}\fR " + _roff(" ".join(_usage(context))))
    description = rest[: rest.index("Examples")] if "Examples" in rest else rest
    if description:
        yield ".SH DESCRIPTION"
        for at, paragraph in enumerate(description):
            yield from ([".PP"] if at else []) + [_roff(paragraph)]
    for title, kind in (("ARGUMENTS", "argument"), ("OPTIONS", "option")):
        records = [p.get_help_record(context) for p in command.get_params(context) if p.param_type_name == kind]
        yield from _entries(title, [record for record in records if record])
    commands = getattr(command, "commands", {})
    yield from _entries(
        "COMMANDS", [(f"{name}-{sub}(1)", _paragraphs(one.help or "")[0]) for sub, one in sorted(commands.items())]
    )
    if "Examples" in rest:
        yield from (".SH EXAMPLES", ".nf")
        yield from (_roff(line.strip()) for part in rest[rest.index("Examples") + 1 :] for line in part.splitlines())
        yield ".fi"
    yield from (".SH EXIT STATUS", "0 success, 1 the work failed, 2 wrong usage or bad input, 130 interrupted")
    others = [context.parent.command_path.replace(" ", "-")] if context.parent else ["weft-switchd", "weft-loadgen"]
    section = "1" if context.parent else "8"
    yield from (".SH SEE ALSO", ", ".join(rf"\fB{_roff(other)}\fR({section})" for other in others))


def _usage(context: Any) -> list[str]:
    return [str(piece) for piece in context.command.collect_usage_pieces(context)]


def _entries(title: str, records: list[tuple[str, str]]) -> Iterator[str]:
    if records:
        yield f".SH {title}"
    for term, text in records:
        yield from (".TP", rf"\fB{_roff(_plain(term))}\fR", _roff(" ".join(_plain(text).split()) or "\\&"))


def _paragraphs(help_text: str) -> list[str]:
    """The paragraphs without markup; those of examples keep their lines."""
    plain = _plain(help_text).replace("\f", "")
    return [part.strip("\n") for part in re.split(r"\n\s*\n", plain.strip()) if part.strip()]


def _plain(text: str) -> str:
    return Text.from_markup(text).plain


def _roff(text: str) -> str:
    """Text as roff: no character of it starts a request or an escape, and hyphens can be copied."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    return re.sub(r"(?m)^(?=\.)", r"\\&", escaped)
