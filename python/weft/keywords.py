"""Functions that name their options when an unknown one is given."""

from __future__ import annotations

from functools import wraps

TYPE_CHECKING = False
"""As in `weft`."""
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import ParamSpec, TypeVar

    _P = ParamSpec("_P")
    _R = TypeVar("_R")


def named(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """The function; the `TypeError` of an unknown option says which one is meant, and lists all."""
    options = list(getattr(function, "__kwdefaults__", None) or ())
    code = function.__code__
    known = {*options, *code.co_varnames[: code.co_argcount]}

    @wraps(function)
    def called(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        for name in kwargs.keys() - known:
            import difflib

            near = difflib.get_close_matches(name, options, 1)
            meant = f"did you mean `{near[0]}`? " if near else ""
            raise TypeError(
                f"weft.{function.__name__} has no option `{name}`: {meant}Its options are {', '.join(options)}"
            )
        return function(*args, **kwargs)

    return called
