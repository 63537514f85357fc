"""What is compared: variants, schemes with their parameters or, with a single scheme, the values of another key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .labels import short_key, show

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SCHEME_KEY = "scheme.name"
VARIANT_KEY = "variant"
"""Names the ``[variant.NAME]`` of a run."""
_TABLES = ("transport", "fabric", "traffic")
"""Tables of a scenario whose keys are compared first: that on which the flows depend least comes first."""


def compared_key(points: Sequence[Mapping[str, Any]], baseline: str | None = None) -> str | None:
    """The key whose values are compared in a sweep with a single scheme; None in any other sweep.

    The less the key changes the flows, the fairer the comparison. Names are easier to compare than numbers, and few
    values easier than many. The other keys remain for axes and panels, and so does a single key with numbers, such as a
    load, unless it is one of ``[transport]``.

    Args:
        points: The overrides of each run.
        baseline: A value of a key, such as ``0.2`` or ``load=0.2``, whose key is compared.
    """
    values: dict[str, dict[str, Any]] = {}
    for overrides in points:
        for key, value in overrides.items():
            values.setdefault(key, {})[show(value)] = value
    varied = {key: list(found.values()) for key, found in values.items() if len(found) > 1}
    if not varied or any(_of_scheme(key) for key in varied):
        return None
    named = [key for key, found in varied.items() for value in found if _names(baseline, key, value, varied)]
    if len(named) == 1:
        return named[0]

    def rank(key: str) -> tuple[int, bool, int]:
        table = key.partition(".")[0]
        place = _TABLES.index(table) if table in _TABLES else len(_TABLES)
        return place, _numeric(varied[key]), len(varied[key])

    best = min(varied, key=rank)
    is_axis = len(varied) == 1 and _numeric(varied[best]) and not best.startswith("transport.")
    return None if is_axis else best


def _numeric(values: Sequence[Any]) -> bool:
    return all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values)


def _names(baseline: str | None, key: str, value: Any, keys: Mapping[str, Any]) -> bool:
    """Whether `baseline` means this value: ``0.2``, ``load=0.2`` or, with the scheme, ``ecmp load=0.2``."""
    if baseline is None:
        return False
    text = show(value)
    named = {f"{short_key(key, keys)}={text}", f"{key.rpartition('.')[2]}={text}", f"{key}={text}"}
    return baseline == text or baseline in named or baseline.partition(" ")[2] in named


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
        baseline = baseline.removeprefix(f"{compared.rpartition('.')[0]}.")
        tails = {label: label.partition(" ")[2] for label in schemes}
        found = [label for label, tail in tails.items() if baseline in (tail, tail.partition("=")[2])]
    return found[0] if len(found) == 1 else None


def scheme_label(overrides: Mapping[str, Any], default: str, compared: str | None = None) -> str:
    """The name of a run's variant or scheme with the values that are compared, e.g. ``flowlet gap=500 us``.

    Args:
        overrides: Of the run.
        default: The scheme's name where the sweep has none.
        compared: See `compared_key`.
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
