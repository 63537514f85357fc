"""What a sweep compares: schemes with their parameters or, with a single scheme, the values of another key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .labels import short_key, show

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SCHEME_KEY = "scheme.name"
_TABLES = ("transport", "fabric", "traffic")
"""Tables of a scenario whose keys are compared first: that on which the flows depend least comes first."""


def compared_key(points: Sequence[Mapping[str, Any]]) -> str | None:
    """The key that is compared in a sweep over several keys with a single scheme; None in any other sweep.

    The less the key changes the flows, the fairer the comparison. Names are easier to compare than numbers, and few
    values easier than many. The other keys remain for axes and panels.

    Args:
        points: The overrides of each run.
    """
    values: dict[str, dict[str, Any]] = {}
    for overrides in points:
        for key, value in overrides.items():
            values.setdefault(key, {})[show(value)] = value
    varied = {key: list(found.values()) for key, found in values.items() if len(found) > 1}
    if len(varied) < 2 or any(_of_scheme(key) for key in varied):
        return None

    def rank(key: str) -> tuple[int, bool, int]:
        table = key.partition(".")[0]
        place = _TABLES.index(table) if table in _TABLES else len(_TABLES)
        return place, all(isinstance(value, (int, float)) for value in varied[key]), len(varied[key])

    return min(varied, key=rank)


def dimensions(overrides: Mapping[str, Any], compared: str | None) -> dict[str, Any]:
    """The overrides of a run that make its point of the sweep: all that are not compared."""
    return {key: value for key, value in overrides.items() if not _of_scheme(key) and key != compared}


def label_of(baseline: str, schemes: Sequence[str], compared: str | None) -> str | None:
    """The scheme that a user means, by its label or, where a key is compared, by its value alone; None if none fits.

    Args:
        baseline: As the user wrote it, e.g. ``ecmp profile=dctcp``, ``profile=dctcp`` or ``dctcp``.
        schemes: The labels.
        compared: See `compared_key`.
    """
    if baseline in schemes:
        return baseline
    found = []
    if compared is not None:
        tails = {label: label.partition(" ")[2] for label in schemes}
        found = [label for label, tail in tails.items() if baseline in (tail, tail.partition("=")[2])]
    return found[0] if len(found) == 1 else None


def scheme_label(overrides: Mapping[str, Any], default: str, compared: str | None = None) -> str:
    """The name of a run's scheme with the values that are compared, e.g. ``flowlet gap=500 us``.

    Args:
        overrides: Of the run.
        default: The scheme's name where the sweep has none.
        compared: See `compared_key`.
    """
    name = default
    parameters: dict[str, Any] = {}
    for key, value in overrides.items():
        if key == SCHEME_KEY:
            name = str(value)
        elif key == "scheme" and isinstance(value, dict):
            name = str(value.get("name", name))
            parameters |= {k: v for k, v in value.items() if k != "name"}
        elif _of_scheme(key):
            parameters[key.removeprefix("scheme.")] = value
        elif key == compared:
            parameters[short_key(key, overrides)] = value
    return " ".join([name, *(f"{k}={show(v)}" for k, v in parameters.items())])


def _of_scheme(key: str) -> bool:
    return key.partition(".")[0] == "scheme"
