"""`weft run --quick`: a scenario with a tenth of its time, flows or bytes, for a first look."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from . import toml_text
from .labels import plural
from .scenario import Scenario

TENTH = 0.1
"""The part of the time, the flows and the bytes of collectives that a quick run has."""
MOST_SEEDS = 2
"""The most seeds of a quick run."""
MARK = "quick"
"""What names and directories of quick runs end with."""
_QUANTITY = re.compile(r"\s*([0-9][0-9_]*\.?[0-9]*|\.[0-9]+)\s*([^0-9.\s].*)")
_TIMES = ("run.duration", "run.limit", "measure.interval", "measure.window")
_WHOLE = {"flow_list": "a list of flows", "trace": "a trace", "training": "training", "inference": "inference"}
"""The keys of traffic that stays as it is, in words."""


class Quick(NamedTuple):
    """A quick scenario."""

    scenario: Scenario
    changes: str
    """The work that it leaves out, in words."""


def quick(scenario: Scenario, seeds: Sequence[int] | None = None) -> Quick:
    """The scenario with a tenth of its duration, its flows or the data of its collectives, and few seeds.

    Times of events, sampling and the measurement window shrink as well. Lists of flows, traces, training and inference
    stay whole. Its text has all changes, so that a result directory has the scenario that was run; its name says that
    it is quick, so that results are never taken for those of the whole scenario.

    Args:
        scenario: The whole scenario.
        seeds: The seeds; default its first `MOST_SEEDS`.

    Raises:
        ScenarioError: The scenario is not valid.
    """
    content = scenario.content()
    run = content.setdefault("run", {})
    run.setdefault("duration", "1 s")
    run["seeds"] = list(seeds or list(dict.fromkeys(point.seed for point in scenario.points()))[:MOST_SEEDS])
    told = []
    for place, table, key, share in list(_shrinking(content)):
        table[key] = _part(table[key], share)
        if place.startswith(("run.duration", "traffic")) and not place.endswith(".start"):
            told.append(f"{place} = {toml_text.value(table[key])}")
    content = {"name": f"{content.get('name') or scenario.stem} ({MARK})", **_without(content, "name")}
    whole = [words for name, words in _WHOLE.items() if any(name in group for _, group in _tables(content, "traffic"))]
    rest = "".join(f"; {words} stays whole" for words in whole)
    changes = f"{', '.join(told)}, {plural(len(run['seeds']), 'seed')}{rest}"
    return Quick(replace(scenario, text=toml_text.document(content), sets=()), changes)


def _shrinking(content: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], str, float]]:
    """The keys that shrink: where each is, its table, its name there, and the share that stays."""
    swept = dict(_swept(content.get("sweep", {})))
    for place in _TIMES:
        section, _, name = place.partition(".")
        if place in swept:
            yield place, *swept[place], TENTH
        elif name in content.get(section, {}):
            yield place, content[section], name, TENTH
    for place, event in _tables(content, "event"):
        if "at" in event:
            yield f"{place}.at", event, "at", TENTH
    for place, group in _tables(content, "traffic"):
        shares = {"start": TENTH, "flows": TENTH} | (_of_collective(group) if "collective" in group else {})
        for name, share in shares.items():
            if name in group and f"{place}.{name}" not in swept:
                yield f"{place}.{name}", group, name, share


def _of_collective(group: dict[str, Any]) -> dict[str, float]:
    """The shares of a collective's repeats and bytes: a tenth of both together."""
    repeats = group.get("repeats", 1)
    if not isinstance(repeats, int) or repeats * TENTH >= 1:
        return {"repeats": TENTH}
    return {"repeats": 1 / repeats, "bytes": TENTH * repeats}


def _swept(table: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, tuple[dict[str, Any], str]]]:
    """The swept keys, each with the table that has its values, and its name there."""
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _swept(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", (table, name)


def _tables(content: dict[str, Any], section: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The tables of a section with the beginning of their keys: one `[section]`, or `[[section]]`."""
    found = content.get(section, {})
    if isinstance(found, list):
        yield from ((f"{section}.{at}", table) for at, table in enumerate(found))
    elif found:
        yield section, found


def _part(value: Any, share: float) -> Any:
    """A share of a number, of a quantity with its unit, or of each in a list; numbers of flows stay above 0."""
    if isinstance(value, list):
        return [_part(one, share) for one in value]
    if isinstance(value, int):
        return max(int(value * share + 1e-9), 1) if value else value
    found = _QUANTITY.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return value
    return f"{float(found[1].replace('_', '')) * share:.12g} {found[2]}"


def _without(table: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in table.items() if name != key}
