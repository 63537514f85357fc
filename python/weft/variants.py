"""The compared variants: named ones, schemes with their parameters, or values of another key.

The same rules check a baseline in `crates/scenario/src/baseline.rs`.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .labels import short_key, show

SCHEME_KEY = "scheme.name"
VARIANT_KEY = "variant"
"""Names the ``[variant.NAME]`` of a run."""
_TABLES = ("transport", "fabric", "traffic")
"""Tables of a scenario whose keys are compared first: that on which the flows depend least comes first."""


def compared_key(points: Sequence[Mapping[str, Any]], baseline: str | None = None) -> str | None:
    """The key whose values are compared besides the schemes, if any.

    `points` has the overrides of each run. If `baseline` is a value of a key, such as ``0.2`` or ``load=0.2``, and no
    scheme's label, this key is compared. Otherwise, a sweep with several schemes compares only these, and a sweep with
    a single scheme compares one of its keys: the less the key changes the flows, the fairer the comparison; names are
    easier to compare than numbers, and few values easier than many. The other keys remain for axes and panels, and so
    does a single key with numbers, such as a load, unless it is one of ``[transport]``.
    """
    swept = varied_keys(points)
    varied = {key: values for key, values in swept.items() if not _of_scheme(key)}
    schemes = len(varied) < len(swept)
    named = values_of(baseline, varied)
    if len(named) == 1 and not (schemes and baseline is not None and _is_label(baseline, points)):
        return named[0][0]
    if schemes or not varied:
        return None

    def rank(key: str) -> tuple[int, bool, int]:
        table = key.partition(".")[0]
        place = _TABLES.index(table) if table in _TABLES else len(_TABLES)
        return place, _numeric(varied[key]), len(varied[key])

    best = min(varied, key=rank)
    is_axis = len(varied) == 1 and _numeric(varied[best]) and not best.startswith("transport.")
    return None if is_axis else best


def _is_label(baseline: str, points: Sequence[Mapping[str, Any]]) -> bool:
    """Whether `baseline` means a variant or scheme."""
    return label_of(baseline, dict.fromkeys(scheme_label(point, "") for point in points), None) is not None


def varied_keys(points: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """The swept keys with several values, and these, from the overrides of each run."""
    values: dict[str, dict[str, Any]] = {}
    for overrides in points:
        for key, value in overrides.items():
            values.setdefault(key, {})[show(value)] = value
    return {key: list(found.values()) for key, found in values.items() if len(found) > 1}


def assignments(varied: Mapping[str, Sequence[Any]]) -> list[str]:
    """The values of keys that belong to no scheme, such as ``load=0.2``."""
    keys = [key for key in varied if not _of_scheme(key)]
    return [f"{short_key(key, varied)}={show(value)}" for key in keys for value in varied[key]]


def values_of(baseline: str | None, varied: Mapping[str, Sequence[Any]]) -> list[tuple[str, Any]]:
    """The keys with their values that `baseline` may mean: ``0.2``, ``load=0.2`` or ``ecmp load=0.2``."""
    if baseline is None:
        return []
    return [
        (key, value)
        for key, found in varied.items()
        for value in found
        if _spells(baseline, value) or any(_assigns(rest, key, value) for _, rest in _splits(baseline))
    ]


def unswept_key(baseline: str, points: Sequence[Mapping[str, Any]]) -> str | None:
    """The key that `baseline` assigns a value to, such as ``load`` in ``load=0.2``, if no run's overrides have it."""
    name, sign, _ = baseline.rpartition(" ")[2].partition("=")
    swept = (key for overrides in points for key in overrides)
    return None if not (name and sign) or any(f".{key}".endswith(f".{name}") for key in swept) else name


def swept_keys(points: Sequence[Mapping[str, Any]]) -> str:
    """The keys of the runs' overrides, for messages."""
    return ", ".join(f"`{key}`" for key in dict.fromkeys(key for overrides in points for key in overrides)) or "none"


def _numeric(values: Sequence[Any]) -> bool:
    return all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values)


def _splits(text: str) -> Iterator[tuple[str, str]]:
    """The text as a label, which may be empty, and the rest."""
    yield "", text
    yield from ((text[:at], text[at + 1 :]) for at, sign in enumerate(text) if sign == " ")


def _assigns(text: str, key: str, value: Any) -> bool:
    """Whether `text` is ``key=value``, with the whole key or its last parts."""
    name, _, spelled = text.partition("=")
    return bool(name) and f".{key}".endswith(f".{name}") and _spells(spelled, value)


def _spells(text: str, value: Any) -> bool:
    """Whether `text` means `value`: ``1`` and ``1.0`` are the same."""
    if text == show(value):
        return True
    try:
        read = json.loads(text)
    except ValueError:
        return False
    return isinstance(read, bool) == isinstance(value, bool) and bool(read == value)


def dimensions(overrides: Mapping[str, Any], compared: str | None) -> dict[str, Any]:
    """The overrides of a run that make its point of the sweep: all that are not compared."""
    return {key: value for key, value in overrides.items() if not _of_scheme(key) and key != compared}


def label_of(baseline: str, labels: Mapping[str, Any], compared: str | None) -> str | None:
    """The label that a user means; None if none fits.

    `baseline` is a label, its first words such as the scheme without parameters, or a compared value as in `values_of`.
    If several labels fit, the first of them is meant. `labels` have the value of the key `compared` (see
    `compared_key`).
    """
    if baseline in labels:
        return baseline
    found = [label for label in labels if label.startswith(f"{baseline} ")][:1]
    if compared is not None and not found:
        found = [label for label, value in labels.items() if _means(baseline, label, compared, value)]
    return found[0] if found else None


def _means(baseline: str, label: str, key: str, value: Any) -> bool:
    return _spells(baseline, value) or any(
        _assigns(rest, key, value) and (not before or label.startswith(f"{before} "))
        for before, rest in _splits(baseline)
    )


def scheme_label(overrides: Mapping[str, Any], default: str, compared: str | None = None) -> str:
    """The name of a run's variant or scheme with the values that are compared, e.g. ``flowlet gap=500 us``.

    `default` is the scheme's name where the sweep has none; `compared`: see `compared_key`.
    """
    name, variant = default, overrides.get(VARIANT_KEY)
    parameters: dict[str, Any] = {}
    for key, value in overrides.items():
        if key == SCHEME_KEY:
            name = str(value)
        elif key == "scheme" and isinstance(value, dict):
            name = str(value.get("name", name))
            parameters |= {k: v for k, v in value.items() if k != "name"}
        elif key == compared:
            parameters[short_key(key, overrides)] = value
        elif _of_scheme(key) and key != VARIANT_KEY:
            parameters[key.removeprefix("scheme.")] = value
    if variant is not None:
        # The scheme of a variant is one of its keys, and named only where schemes are swept as well.
        name = f"{variant} {name}" if SCHEME_KEY in overrides or "scheme" in overrides else str(variant)
    return " ".join([name, *(f"{k}={show(v)}" for k, v in parameters.items())])


def _of_scheme(key: str) -> bool:
    return key == VARIANT_KEY or key.partition(".")[0] == "scheme"
