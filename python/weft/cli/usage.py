"""Errors of the command line itself, such as an unknown option: one line with the fix, as all other errors."""

import difflib
import enum
import re
from collections.abc import Iterable
from typing import Any

import typer

from . import shell

_OTHER_NAMES = {
    **dict.fromkeys(("simulate", "sim", "start", "resume", "exec"), "run"),
    **dict.fromkeys(("validate", "verify", "lint", "estimate"), "check"),
    **dict.fromkeys(("init", "create", "generate"), "new"),
    **dict.fromkeys(("compare", "stats", "show", "results"), "summary"),
    **dict.fromkeys(("figure", "figures", "graph", "draw"), "plot"),
    **dict.fromkeys(("html", "view", "open"), "report"),
    **dict.fromkeys(("sql", "select"), "query"),
    **dict.fromkeys(("topology", "network"), "fabric"),
    **dict.fromkeys(("profiles", "distributions", "studies"), "list"),
}
"""Commands by the names that other tools have for them."""
_WORD = re.compile(r"'([^']*)'|\(?Possible options")


def is_usage_error(error: Exception) -> bool:
    """Whether Typer raised it for a wrong command line. Its classes have no public names."""
    return hasattr(error, "format_message") and hasattr(error, "exit_code")


def show(error: Any) -> typer.Exit:
    """Print the error with the fix; the caller raises the returned exception."""
    context = getattr(error, "ctx", None)
    called = context.command_path if context is not None else shell.program()
    kind = type(error).__name__
    if kind == "NoArgsIsHelpError":
        error.show()
        return typer.Exit(shell.BAD_INPUT)
    parameter = getattr(error, "param", None)
    hint = f"{called} --help" if context is not None else None
    if kind == "MissingParameter" and parameter is not None:
        name, what = _name(parameter), (getattr(parameter, "help", None) or "").partition(".")[0]
        message = f"{called} needs {name}" + (f": {what[0].lower()}{what[1:]}" if what else "")
        return shell.fail(message, hint)
    if kind == "NoSuchOption":
        known = [option for one in _parameters(context) for option in one.opts if option.startswith("--")]
        return shell.fail(f"{called} has no option {error.option_name}", _near(error.option_name, known) or hint)
    if kind == "BadOptionUsage":
        wants = "takes no value" if "does not take" in error.message else "needs a value"
        return shell.fail(f"{error.option_name} {wants}", hint)
    if isinstance(error, typer.BadParameter) and kind != "MissingParameter" and parameter is not None:
        name = _name(parameter)
        if isinstance(error, BadChoice) and parameter.param_type_name == "argument":
            return shell.fail(error.of_argument(name.lower()), hint)
        certain = "--set 'run.seeds=[3, 5]' for certain seeds" if name == "--seeds" else None
        return shell.fail(f"{name} {error.message}", certain or hint)
    found = _WORD.search(error.message)
    if error.message.startswith("No such command") and found is not None and context is not None:
        known = list(getattr(context.command, "commands", {}))
        near = _OTHER_NAMES.get(found[1]) if _OTHER_NAMES.get(found[1]) in known else _near(found[1], known)
        return shell.fail(f"there is no command `{called} {found[1]}`", f"{called} {near}" if near else hint)
    if error.message.startswith("Got unexpected extra"):
        extra = error.message.partition("(")[2].rpartition(")")[0].removeprefix("s) (")
        taken = " ".join(_name(one) for one in _parameters(context) if one.param_type_name == "argument")
        takes = f"`{called}` takes {taken or 'options only'}"
        return shell.fail(f"unexpected: {extra}; {takes}", hint)
    return shell.fail(error.format_message(), hint)


def bad_number(value: object, least: float | None, most: float | None) -> typer.BadParameter:
    """The error for a value that is not a whole number in these bounds."""
    if least is not None and most is not None:
        bounds = f" from {least} to {most}"
    elif least is not None:
        bounds = f" from {least} on"
    else:
        bounds = "" if most is None else f" up to {most}"
    return typer.BadParameter(f"is `{value}`: give a whole number{bounds}")


class BadChoice(typer.BadParameter):
    """The error for a value that is none of the choices."""

    def __init__(self, value: object, choices: type[enum.Enum]) -> None:
        self._value = value
        self._names = [str(one.value) for one in choices]
        self._near = _near(str(value), self._names)
        super().__init__(f"is `{value}`: {self._meant('the choices are' if self._near else 'choose from')}")

    def of_argument(self, noun: str) -> str:
        """The message for an argument that names one of several things, such as a list."""
        return f"there is no {noun} `{self._value}`: {self._meant(f'the {noun}s are')}"

    def _meant(self, begin: str) -> str:
        meant = f"did you mean {self._near}? {begin[0].upper()}{begin[1:]}" if self._near else begin
        return f"{meant} {', '.join(self._names)}"


def _parameters(context: Any) -> Iterable[Any]:
    return context.command.get_params(context) if context is not None else ()


def _name(parameter: Any) -> str:
    """The option as typed, or the argument as the help shows it."""
    if parameter.param_type_name == "option":
        return str(max(parameter.opts, key=len))
    return str(parameter.metavar or parameter.name).strip("[]").upper()


def _near(name: str, known: list[str]) -> str | None:
    near = difflib.get_close_matches(name, known, 1)
    return near[0] if near else None
