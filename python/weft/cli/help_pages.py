"""Commands whose help fills the terminal's width, and shows flags without a value type, since they take no value."""

import re
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.models import CommandFunctionType

from . import plain_values, usage


def _joined(text: str | None) -> str | None:
    """Paragraphs as one line each, which Typer would not join; indented lines stay apart.

    The second blank line keeps them indented: Typer dedents the text after the first paragraph without its first line.
    """
    return text and re.sub(r"(?m)^(\S.*)\n(?=\S)", r"\1 ", text).replace("\n\n", "\n\n\n", 1)


def _bare(parameters: list[Any]) -> list[Any]:
    """The parameters, with an empty metavar for flags instead of ``<bool>``, and quick with plain values."""
    for parameter in parameters:
        plain_values.prefer(parameter)
        if getattr(parameter, "is_flag", False) and parameter.metavar is None:
            parameter.metavar = ""
    return parameters


class _Command(TyperCommand):
    def __init__(self, *arguments: Any, help: str | None = None, **settings: Any) -> None:
        super().__init__(*arguments, help=_joined(help), **settings)

    def get_params(self, ctx: Any) -> list[Any]:
        return _bare(super().get_params(ctx))


class Group(TyperGroup):
    """A group of commands with such help."""

    def __init__(self, *arguments: Any, help: str | None = None, **settings: Any) -> None:
        super().__init__(*arguments, help=_joined(help), **settings)

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters, with bare flags."""
        return _bare(super().get_params(ctx))

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run the command; errors of usage look as all others."""
        run = partial(super().main, args, prog_name, complete_var, False, windows_expand_args, **extra)
        if not standalone_mode:
            return run()
        try:
            code = run()
        except Exception as error:
            if not usage.is_usage_error(error):
                raise
            code = usage.show(error).exit_code
        sys.exit(code if isinstance(code, int) else 0)


class Commands(typer.Typer):
    """A group of commands with such help, and with Weft's settings."""

    def __init__(self, cls: type[Group] = Group, **settings: Any) -> None:
        super().__init__(
            cls=cls,
            add_completion=False,
            rich_markup_mode="rich",
            pretty_exceptions_enable=False,
            context_settings={"help_option_names": ["-h", "--help"]},
            **settings,
        )

    def command(self, name: str | None = None, **settings: Any) -> Callable[[CommandFunctionType], CommandFunctionType]:
        """A decorator that adds a command."""
        return super().command(name, cls=_Command, **settings)
