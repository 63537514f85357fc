"""Text, paths and whole numbers of the command line, converted without Pydantic.

Typer 0.29 converts all values with Pydantic, whose import takes half as long as all other work of a short command.
Other values are left to Typer; its errors about numbers and choices are said as Weft's other errors are.
"""

import enum
import os
import re
from pathlib import Path
from typing import Any, get_args, get_origin

import typer

from . import usage

_NEEDED = (
    *("parser", "clamp", "min", "max"),
    *("exists", "writable", "readable", "resolve_path", "allow_dash", "path_type", "file_okay", "dir_okay"),
)
"""What is read of Typer's description of a parameter."""
_WHOLE = re.compile(r"-?[0-9]{1,18}")


class _NotPlainError(Exception):
    """A value that Typer has to convert."""


def prefer(parameter: Any) -> None:
    """Let a parameter convert plain values without Pydantic; with another Typer, it remains as it is."""
    descriptor = getattr(parameter, "type_descriptor", None)
    info = getattr(descriptor, "parameter_info", None)
    is_known = hasattr(descriptor, "annotation") and all(hasattr(info, name) for name in _NEEDED)
    converter = getattr(parameter, "get_runtime_param", None)
    if is_known and converter is not None and not isinstance(converter, _Converter):
        parameter.get_runtime_param = _Converter(parameter)


class _Converter:
    """Takes the place of a parameter's converter, and calls that for all other values."""

    def __init__(self, parameter: Any) -> None:
        self._of_typer = parameter.get_runtime_param
        self._kind = parameter.type_descriptor.annotation
        self._info = parameter.type_descriptor.parameter_info

    def __call__(self) -> "_Converter":
        return self

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """The value of a parameter, converted."""
        several = param.multiple or param.nargs == -1
        if value is None:
            return () if several else None
        try:
            if self._info.parser is not None:
                raise _NotPlainError
            if not several:
                return self._one(value, self._kind)
            if get_origin(self._kind) is not list or not isinstance(value, (list, tuple)):
                raise _NotPlainError
            return [self._one(item, get_args(self._kind)[0]) for item in value]
        except _NotPlainError:
            pass
        try:
            return self._of_typer().coerce(value, param=param, ctx=ctx)
        except typer.BadParameter as error:
            raise self._explained(value) or error from None

    def _explained(self, value: Any) -> typer.BadParameter | None:
        """The error for a wrong number or choice; None if Typer's is as good."""
        if self._kind is int:
            return usage.bad_number(value, self._info.min, self._info.max)
        if isinstance(self._kind, type) and issubclass(self._kind, enum.Enum):
            return usage.BadChoice(value, self._kind)
        return None

    def _one(self, value: Any, kind: Any) -> Any:
        if kind is str and isinstance(value, str):
            return value
        if kind is Path and isinstance(value, (str, Path)) and self._accepts(value):
            return Path(value)
        if kind is int and not self._info.clamp:
            return self._whole(value)
        raise _NotPlainError

    def _accepts(self, path: str | Path) -> bool:
        """Whether a path needs no check but that an existing file is readable, and is."""
        info = self._info
        checked = info.exists or info.writable or info.resolve_path or info.allow_dash or info.path_type is not None
        if checked or not (info.file_okay and info.dir_okay):
            return False
        try:
            Path(path).stat()
        except OSError:
            return True
        return not info.readable or os.access(path, os.R_OK)

    def _whole(self, value: Any) -> int:
        if isinstance(value, str) and _WHOLE.fullmatch(value):
            value = int(value)
        least, most = self._info.min, self._info.max
        if type(value) is not int or (least is not None and value < least) or (most is not None and value > most):
            raise _NotPlainError
        return value
