"""Changes to a figure: logarithmic axes, other labels, font and size of texts."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..errors import OutputError
from ..palette import Style
from .figure import Figure, Toggle
from .layers import Spec

FONT = "Liberation Sans"
FONT_SIZE = 9.0
"""Size of an axis title in points; other texts are in proportion."""
_NAMES = ("scheme", "class", "point", "collective")
"""Columns whose values are shown."""
_AXES = ("x", "y")

Rows = Mapping[str, Sequence[Mapping[str, Any]]]


@dataclass(frozen=True)
class Options:
    """Changes to a figure; by default none.

    Attributes:
        log_x: Whether the horizontal axis is logarithmic; None: as the figure is.
        log_y: Whether the vertical axis is.
        ccdf: Whether a distribution is drawn as its complement.
        labels: Other texts for the names of schemes, classes and points, and for the axis titles ``x`` and ``y``.
        font: The font of all texts.
        font_size: See `FONT_SIZE`.
    """

    log_x: bool | None = None
    log_y: bool | None = None
    ccdf: bool | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    font: str = FONT
    font_size: float = FONT_SIZE

    @property
    def scale(self) -> float:
        """Factor of the sizes of all texts."""
        return self.font_size / FONT_SIZE

    def on(self, figure: Figure) -> frozenset[str]:
        """The toggles of a figure that are on."""
        wanted = [(toggle, self._wanted(toggle)) for toggle in figure.toggles]
        return frozenset(toggle.name for toggle, on in wanted if (toggle.pressed if on is None else on))

    def check(self, name: str, toggles: Iterable[Toggle]) -> None:
        """Raise `OutputError` if a figure cannot have these changes."""
        kinds = {_kind(toggle) for toggle in toggles}
        for kind in ("log_x", "log_y", "ccdf"):
            if getattr(self, kind) is not None and kind not in kinds:
                able = ", ".join(sorted(kinds)) or "none of these"
                raise OutputError(f"the figure `{name}` does not take `{kind}`: it takes {able}")
        if not 4 <= self.font_size <= 40:
            raise OutputError(f"font_size is in points, from 4 to 40, not {self.font_size:g}")

    def relabelled(self, spec: Spec, rows: Rows, looks: Mapping[str, Style]) -> tuple[Spec, Rows, dict[str, Style]]:
        """The specification, its data and the styles of its legend with the labels.

        Raises:
            OutputError: A label is of no name in the figure, or two schemes would have the same one.
        """
        names = {name: self.label(name) for name in looks}
        for table in rows.values():
            for key in _NAMES:
                values = {row[key] for row in table if row.get(key) is not None}
                names |= {value: self.label(value) for value in values if isinstance(value, str)}
        unknown = [name for name in self.labels if name not in _AXES and self._of(name, names) is None]
        if unknown:
            listed = ", ".join([*dict.fromkeys(name for name in names if name), *_AXES])
            raise OutputError(f"there is nothing named `{unknown[0]}` to label in this figure: choose from {listed}")
        shown = {names[name]: look for name, look in looks.items()}
        if len(shown) < len(looks):
            raise OutputError("two schemes have the same label: give each its own")
        changed = {
            title: [{key: names.get(one, one) if key in _NAMES else one for key, one in row.items()} for row in table]
            for title, table in rows.items()
        }
        return self._in_spec(spec, names), changed, shown

    def _wanted(self, toggle: Toggle) -> bool | None:
        found: bool | None = getattr(self, _kind(toggle))
        return found

    def label(self, name: str) -> str:
        """The text for a name, which may be followed by a mark: ``ecmp (unstable)``."""
        bare, space, mark = name.partition(" (")
        return self.labels.get(name) or (self.labels[bare] + space + mark if bare in self.labels else name)

    @staticmethod
    def _of(name: str, names: Iterable[str]) -> str | None:
        return next((one for one in names if one == name or one.startswith(f"{name} (")), None)

    def _in_spec(self, part: Any, names: Mapping[str, str]) -> Any:
        """A part of a specification with the labels, and the titles of the axes where there are any."""
        if isinstance(part, list):
            return [self._in_spec(one, names) for one in part]
        if not isinstance(part, dict):
            return part
        found = {key: self._in_spec(one, names) for key, one in part.items()}
        for key in ("domain", "sort"):
            if isinstance(found.get(key), list):
                found[key] = [names.get(one, one) if isinstance(one, str) else one for one in found[key]]
        for axis in _AXES:
            if axis in self.labels and isinstance(found.get(axis), dict) and found[axis].get("title"):
                found[axis] = found[axis] | {"title": self.labels[axis]}
        return found


def _kind(toggle: Toggle) -> str:
    """The option that switches a toggle."""
    return {"x": "log_x", "y": "log_y"}.get(toggle.name.rpartition("-")[2], toggle.name)


def resized(part: Any, factor: float) -> Any:
    """A part of a configuration with all sizes of texts multiplied."""
    if not isinstance(part, dict):
        return part
    return {
        key: round(one * factor, 3) if key.lower().endswith("fontsize") else resized(one, factor)
        for key, one in part.items()
    }
