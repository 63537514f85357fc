"""Terminal output and error handling of all commands.

Results go to standard output, everything else (progress, warnings, errors) to standard error. The exit codes are those
of ``docs/exit-codes.md``.
"""

import os
import shlex
import shutil
import signal
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import typer
from rich.markup import escape
from rich.text import Text

from ..codes import INTERRUPTED, TERMINATED
from ..errors import OutputError, ResultsError, ScenarioError, WeftError
from ..labels import plural
from .terminal import Terminal, as_json

OK, FAILED, BAD_INPUT = 0, 1, 2

out = Terminal(markup=False)
err = Terminal(stderr=True)

_P = ParamSpec("_P")
_R = TypeVar("_R")


def fail(message: str, hint: str | None = None, code: int = BAD_INPUT) -> typer.Exit:
    """Print an error and a hint on how to fix it; the caller raises the returned exception."""
    text = message.rstrip()
    begun = text.startswith("error")
    err.print(Text(text) if begun else Text.assemble(("error: ", "bold red"), text), soft_wrap=True)
    if hint:
        err.print(Text.assemble(("  try: ", "bold cyan"), hint), soft_wrap=True)
    return typer.Exit(code)


def refuse_directory(page: Path) -> None:
    """Raise `OutputError` if there is a directory in the place of a page to write."""
    if page.is_dir():
        raise OutputError(f"{page} is a directory: give a file to write the page to")


def warn(message: str) -> None:
    """Print a warning."""
    err.print(Text.assemble(("warning: ", "bold yellow"), message), soft_wrap=True)


def say(message: str) -> None:
    """Print a remark that is not a result; Rich markup is rendered."""
    err.print(message, soft_wrap=True)


def print_json(value: Any, indent: int | None = None) -> None:
    """Print a result as JSON."""
    print(as_json(value, indent), flush=True)


def guarded(command: Callable[_P, _R]) -> Callable[_P, _R]:
    """Wrap a command so that its errors become a message and an exit code, never a traceback."""

    @wraps(command)
    def run(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            return command(*args, **kwargs)
        except typer.Exit:
            raise
        except KeyboardInterrupt:
            say(_interrupted(command.__name__))
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            # The reader (head, less) closed the pipe; avoid an error message from the interpreter at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(OK) from None
        except ScenarioError as error:
            raise fail(str(error)) from None
        except WeftError as error:
            full = isinstance(error, OutputError) and error.disk_full
            code = FAILED if error.begun and not full else BAD_INPUT
            raise fail(str(error), error.hint or (disk_full_hint() if full else None), code) from None
        except OSError as error:
            raise fail(f"{error.filename or ''}: {error.strerror or error}".lstrip(": ")) from None
        except Exception as error:
            if _is_interruption(error):
                say(_interrupted(command.__name__))
                raise typer.Exit(INTERRUPTED) from None
            if os.environ.get("WEFT_TRACEBACK"):
                raise
            damaged = _damage([*args, *kwargs.values()])
            if damaged is not None:
                raise fail(str(damaged), damaged.hint) from None
            raise fail(
                f"internal error: {type(error).__name__}: {error}",
                "run it again with WEFT_TRACEBACK=1 and report the traceback",
                FAILED,
            ) from None

    return run


def stoppable(command: Callable[_P, _R]) -> Callable[_P, _R]:
    """Wrap a `guarded` command so that SIGTERM, as service managers send it, stops it as Ctrl-C does."""

    @wraps(command)
    def run(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        received = False

        def stop(*_: object) -> None:
            nonlocal received
            received = True
            raise KeyboardInterrupt

        before = signal.getsignal(signal.SIGTERM)
        if before is not signal.SIG_IGN:
            signal.signal(signal.SIGTERM, stop)
        try:
            return command(*args, **kwargs)
        except typer.Exit as end:
            if received and end.exit_code == INTERRUPTED:
                raise typer.Exit(TERMINATED) from None
            raise
        finally:
            signal.signal(signal.SIGTERM, before)

    return run


def _damage(arguments: Iterable[object]) -> ResultsError | None:
    """The error that names a damaged file, if one of the arguments of a command is a directory with one."""
    from ..damage import sought

    given = (path for one in arguments for path in (one if isinstance(one, list) else [one]))
    found = (sought(path) for path in given if isinstance(path, Path) and path.is_dir())
    return next((error for error in found if error is not None), None)


def _is_interruption(error: BaseException | None) -> bool:
    """Whether Ctrl-C caused an error: while a library is imported, it becomes an ImportError."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


_KEPT = {
    "plot": "figures that were complete are kept",
    **dict.fromkeys(("emulate", "reproduce", "run"), "finished runs are kept"),
    **dict.fromkeys(("bench", "check", "summary"), "nothing is kept"),
    **dict.fromkeys(("explore", "export", "fabric", "query", "report", "why"), "no file was written"),
}
"""What is left of a command after Ctrl-C; other commands run until they are stopped."""


def _interrupted(command: str) -> str:
    """What is left of an interrupted command, and how to start it again; Rich markup."""
    if command not in _KEPT:
        return "stopped"
    return f"Stopped: {_KEPT[command]}. To start again:\n  {command_line(*sys.argv[1:])}"


def disk_full_hint() -> str:
    """The hint for a full disk."""
    return "free some space and repeat the command: finished runs stay readable and are not repeated"


def typed(*words: object) -> str:
    """A command of Weft as the user can type it."""
    return f"{program()} {shlex.join(str(word) for word in words)}"


def repeated(command: str, argument: object, options: Mapping[str, object]) -> str:
    """The command line to repeat a command, with the options that were given; a list repeats its option."""
    words = [command, argument]
    for option, value in options.items():
        for one in value if isinstance(value, list) else [value]:
            if one is not None and one is not False:
                words += [option] if one is True else [option, one]
    return typed(*words)


def finished(runs: int, folder: Path, before: int = 0) -> None:
    """Say where the results of a command are; `before` of its runs were there already."""
    kept = f" ({before} already done)" if before else ""
    say(f"\n{plural(runs, 'run')} in {escape(str(folder))}{kept}. Next:")


def stopped(kept: str, again: str) -> str:
    """The message after Ctrl-C: the files that are kept, and the command to resume; Rich markup."""
    return f"Stopped: {escape(kept)}. To resume:\n  [bold]{escape(again)}[/bold]"


def program() -> str:
    """How to call Weft: `weft` if it is on the PATH, else the way it was called now."""
    called = Path(sys.argv[0])
    if shutil.which("weft"):
        return "weft"
    if called.parts[-2:] == ("weft", "__main__.py"):
        return f"{shlex.quote(sys.executable)} -m weft"
    return shlex.quote(str(called)) if called.name == "weft" else "weft"


def command_line(*words: object) -> str:
    """`typed` as Rich markup."""
    return f"[bold]{escape(typed(*words))}[/bold]"
