"""Help that shows flags without a value type, since they take no value."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup


def _bare(parameters: list[Any]) -> list[Any]:
    """The parameters, with an empty metavar for flags instead of ``<bool>``."""
    for parameter in parameters:
        if getattr(parameter, "is_flag", False) and parameter.metavar is None:
            parameter.metavar = ""
    return parameters


class _Command(TyperCommand):
    def get_params(self, ctx: Any) -> list[Any]:
        return _bare(super().get_params(ctx))


class _Group(TyperGroup):
    def get_params(self, ctx: Any) -> list[Any]:
        return _bare(super().get_params(ctx))


def without_types_of_flags(app: typer.Typer) -> None:
    """Make every command of `app` and its sub-applications show flags without a type."""
    app.info.cls = _Group
    for command in app.registered_commands:
        command.cls = _Command
    for group in app.registered_groups:
        group.cls = _Group
        if group.typer_instance is not None:
            without_types_of_flags(group.typer_instance)
