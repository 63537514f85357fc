"""`weft run --quick`: a scenario with a tenth of its time or flows, for a first look."""

import re
from collections.abc import Iterator
from typing import Any

from . import toml_text
from .scenario import Scenario

SHARE = 10
"""The part of the time and the flows that is left out of ten: a quick run has one of these."""
MOST_SEEDS = 2
"""The most seeds of a quick run."""
MARK = "quick"
"""What names and directories of quick runs end with."""
_QUANTITY = re.compile(r"\s*([0-9][0-9_]*\.?[0-9]*|\.[0-9]+)\s*([^0-9.\s].*)")
_TIMES = ("run.duration", "run.limit", "measure.interval", "measure.window")


def quick(scenario: Scenario) -> Scenario:
    """The scenario with a tenth of its duration, its flows or the bytes of its collectives.

    Times of events, sampling and the measurement window shrink as well. Lists of flows and traces stay whole. The name
    says that it is quick, so results are never taken for those of the whole scenario.

    Raises:
        ScenarioError: The scenario is not valid.
    """
    # Only quick runs need it, and every run imports this module.
    import tomllib

    scenario.check()
    content = tomllib.loads(scenario.text)
    for change in scenario.sets:
        key, _, text = change.partition("=")
        try:
            value = tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            value = text.strip()
        _put(content, key.strip().split("."), value)
    content.setdefault("run", {}).setdefault("duration", "1 s")
    name = f"{content.get('name') or scenario.stem} ({MARK})"
    sets = [f"{key}={toml_text.value(value, key)}" for key, value in _shrunk(content)]
    return scenario.with_sets([*sets, f"name={toml_text.value(name)}"])


def _shrunk(content: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The keys to set, with their values."""
    swept = content.get("sweep", {})
    for key in _TIMES:
        section, _, name = key.partition(".")
        if key in swept:
            yield f'sweep."{key}"', [_tenth(value) for value in swept[key]]
        elif name in content.get(section, {}):
            yield key, _tenth(content[section][name])
    for place, event in _tables(content, "event"):
        if "at" in event:
            yield f"{place}.at", _tenth(event["at"])
    for place, group in _tables(content, "traffic"):
        for name in ("start", "flows"):
            if name in group and f"{place}.{name}" not in swept:
                yield f"{place}.{name}", _tenth(group[name])
        repeats = group.get("repeats", 1)
        if "collective" in group and f"{place}.bytes" not in swept:
            shrinks = "repeats" if isinstance(repeats, int) and repeats >= SHARE else "bytes"
            yield f"{place}.{shrinks}", _tenth(group.get(shrinks))


def _tables(content: dict[str, Any], section: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The tables of a section with the beginning of their keys: one `[section]`, or `[[section]]`."""
    found = content.get(section, {})
    if isinstance(found, list):
        yield from ((f"{section}.{at}", table) for at, table in enumerate(found))
    elif found:
        yield section, found


def _tenth(value: Any) -> Any:
    """A tenth of a number, of a quantity with its unit, or of each in a list; numbers of flows stay above 0."""
    if isinstance(value, list):
        return [_tenth(one) for one in value]
    if isinstance(value, int):
        return max(value // SHARE, 1) if value else value
    found = _QUANTITY.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return value
    return f"{float(found[1].replace('_', '')) / SHARE:.12g} {found[2]}"


def _put(content: Any, path: list[str], value: Any) -> None:
    """Set the key that a path names in the content of a scenario; the engine has checked it."""
    first, *rest = path
    if first == "sweep":
        content.setdefault("sweep", {})[".".join(rest).strip('"')] = value
    elif isinstance(content, list):
        at = (
            int(first)
            if first.isdigit()
            else next((at for at, one in enumerate(content) if one.get("class") == first), 0)
        )
        rest = rest if first.isdigit() or len(content) > 1 else path
        if rest:
            _put(content[at], rest, value)
        else:
            content[at] = value
    elif rest:
        content.get("sweep", {}).pop(".".join(path), None)
        _put(content.setdefault(first, {}), rest, value)
    else:
        content[first] = value
