"""The scenario on the command line: its file, changes to it, and its warnings."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from ..labels import plural
from ..scenario import Point, Scenario
from . import shell

ScenarioFile = Annotated[Path, typer.Argument(metavar="SCENARIO", help="The scenario file (TOML).")]
Sets = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Set a key of the scenario; may be repeated."),
]
_OTHERS = {
    ".json": "JSON",
    ".yaml": "YAML",
    ".yml": "YAML",
    ".xml": "XML",
    ".csv": "CSV",
    ".topo": "htsim's format",
    ".cm": "htsim's format",
    ".py": "Python",
    ".html": "HTML",
}


def assigned(change: str) -> tuple[str, Any]:
    """Key and value of a ``--set KEY=VALUE``: a JSON value, or else text."""
    key, equals, text = (part.strip() for part in change.partition("="))
    if not (key and equals and text):
        raise shell.fail(f"--set takes KEY=VALUE, not `{change}`", "write, for instance, --set traffic.load=0.6")
    try:
        return key, json.loads(text)
    except ValueError:
        return key, text


def other_format(path: Path) -> str | None:
    """The format that a file's ending names, if it is none of a scenario."""
    return _OTHERS.get(path.suffix.lower())


def read(path: Path, command: str) -> Scenario:
    """The scenario in a file; the error for a directory or another file shows what to type instead of this command."""
    if not path.is_dir():
        form = other_format(path)
        if path.is_file() and form is not None:
            hint = f"`{shell.typed('new', 'mine.toml')}` writes one; fabric.file and traffic.trace name other files"
            raise shell.fail(f"{path} is {form}, and a scenario is a TOML file", hint)
        scenario = Scenario.from_file(path)
        if not scenario.text.strip():
            raise shell.fail(f"{path} is empty", f"`{shell.typed('new', 'mine.toml')}` writes a scenario to begin with")
        return scenario
    if (path / "sweep.json").is_file():
        again = shell.typed("run", path / "scenario.toml", "-o", path)
        hint = f"`{shell.typed('report', path)}` to view them, `{again}` to resume the run"
        raise shell.fail(f"{path} is a result directory, not a scenario file", hint)
    files = sorted(path.glob("*.toml"))
    begin = f"`{shell.typed('new', 'mine.toml')}`, then `{shell.typed(command, 'mine.toml')}`"
    hint = shell.typed(command, files[0]) if files else begin
    raise shell.fail(f"{path} is a directory, not a scenario file", hint)


def by_text(warnings: Sequence[str], points: Sequence[Point]) -> dict[str, list[str]]:
    """The texts of a check's warnings, each with the labels of the points that have it; none: the whole scenario."""
    labels = sorted({point.label for point in points}, key=len, reverse=True)
    having: dict[str, list[str]] = {}
    for warning in warnings:
        label = next((label for label in labels if warning.startswith(f"{label}: ")), None)
        text = warning if label is None else warning[len(label) + 2 :]
        having.setdefault(text, []).extend([] if label is None else [label])
    return having


def warn_of(warnings: Sequence[str], points: Sequence[Point]) -> None:
    """Print the warnings of a check; one that several points have is printed once."""
    number = len({point.label for point in points})
    for text, of in by_text(warnings, points).items():
        if not of or len(of) == number:
            shell.warn(text)
        else:
            more = f" (and {plural(len(of) - 1, 'more point')})" if len(of) > 1 else ""
            shell.warn(f"{of[0]}{more}: {text}")
