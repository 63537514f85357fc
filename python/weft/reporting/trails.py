"""How to see a flow of these results find its path: the command of `weft explore`, and the pages that exist already."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

from ..catalogue import schemes
from ..content import Content
from ..labels import show

_PAGE = re.compile(r"explore-[\w.-]+-\d+\.html")


def trails(content: Content, out: Path | None) -> dict[str, Any]:
    """The parts of the commands, and the pages that lie next to the report.

    Keys: `command` up to the flow, empty without a scenario; `named`, if the user has to name the scenario; `folder`
    for the pages; `pages`; `explores`, by scheme; `sets`, the `--set` options of each point and scheme.
    """
    results = content.results
    exploring = {scheme["name"] for scheme in schemes() if scheme["explores"]}
    folder = (out or results.place("report.html")).parent
    command, named = _command(content)
    return {
        "command": command,
        "named": named,
        "folder": "" if folder == Path() else f"{shlex.quote(str(folder))}/",
        "pages": sorted(page.name for page in folder.glob("explore-*.html") if _PAGE.fullmatch(page.name)),
        "explores": [
            bool({summary["scheme"]["name"] for run, summary in _runs(content) if run.scheme == scheme} & exploring)
            for scheme in content.schemes
        ],
        "sets": _sets(content),
    }


def _runs(content: Content) -> Any:
    return zip(content.results.finished, content.summaries, strict=True)


def _command(content: Content) -> tuple[str, bool]:
    """The command with the scenario and the changes that `weft run` was given."""
    results = content.results
    if results.in_memory or not results.has_scenario or any("emulated" in summary for summary in content.summaries):
        return "", False
    index = json.loads((results.path / "sweep.json").read_text(encoding="utf-8"))
    named = bool(index.get("inputs"))
    scenario = "SCENARIO" if named else shlex.quote(str(results.path / "scenario.toml"))
    return " ".join(["weft explore", scenario, *_options(index.get("sets") or ())]), named


def _options(sets: Any) -> list[str]:
    return [f"--set {shlex.quote(str(change))}" for change in sets]


def _sets(content: Content) -> dict[str, str]:
    """The options that choose a point and a scheme, by both numbers: ``0,1``."""
    found: dict[str, str] = {}
    points = {point: at for at, point in enumerate(content.points)}
    places = {scheme: at for at, scheme in enumerate(content.schemes)}
    for run in content.results.finished:
        changes = [f"{key}={show(value)}" for key, value in run.overrides.items()]
        found.setdefault(f"{points[run.point]},{places[run.scheme]}", " ".join(_options(changes)))
    return found
