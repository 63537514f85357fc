"""One colour, marker and line style for each scheme, the same in every figure, page and table.

Any two of the eight colours differ by at least 12 (CIEDE2000) for readers with normal vision, protanopia and
deuteranopia, and all have a contrast of at least 3:1 with the page, in light and in dark mode (`tests/python/
test_palette.py`). Markers and dashes keep black-and-white prints readable.
"""

import zlib
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Style:
    """How a scheme is drawn."""

    color: str
    """CSS hex, on white."""
    dark: str
    """CSS hex of the same hue, on a dark page."""
    shape: str
    """Vega-Lite shape of markers."""
    dash: tuple[int, ...]
    """Lengths of dashes and gaps in line widths; empty for a solid line."""


COLORS = (
    ("#4c4d4f", "#989793"),
    ("#0a6fbd", "#50adfb"),
    ("#de7016", "#d49063"),
    ("#ac4f7e", "#bd8ab5"),
    ("#199268", "#62dec0"),
    ("#1d97d8", "#a7d2f1"),
    ("#896635", "#f0c560"),
    ("#782514", "#ab7567"),
)
"""Each colour on white and on a dark page."""
_SHAPES = (
    "square",
    "circle",
    "triangle-up",
    "diamond",
    "triangle-down",
    "cross",
    "triangle-right",
    "triangle-left",
    "wedge",
)
_DASHES: tuple[tuple[int, ...], ...] = (
    (3, 1),
    (),
    (6, 2),
    (1, 1),
    (5, 1, 1, 1),
    (8, 2, 2, 2),
    (2, 2),
    (8, 1, 1, 1, 1, 1),
)
_KNOWN = {
    "single_path": 0,
    "ecmp": 1,
    "spray": 2,
    "spanning_tree": 3,
    "arp_path": 4,
    "tcp_path": 5,
    "tfe": 6,
    "smoc": 7,
    "tag_forward": 3,
}
"""The place of a scheme's style; of two schemes with the same place, the first in this list has it."""


def _style(place: int) -> Style:
    """The style at a place. From the ninth on, colours repeat with another marker and line."""
    around, at = divmod(place, len(COLORS))
    color, dark = COLORS[at]
    shape = _SHAPES[(at + 4 * around) % len(_SHAPES)]
    return Style(color, dark, shape, _DASHES[(at + 3 * around) % len(_DASHES)])


def styles(schemes: Iterable[str]) -> dict[str, Style]:
    """A style for each scheme, all different; known schemes keep theirs.

    Up to eight schemes have different colours. An unknown scheme gets the style that its name hashes to, or the next
    free one if that is taken.
    """
    names = list(dict.fromkeys(schemes))
    places: dict[str, int] = {}
    for name, place in _KNOWN.items():
        if name in names and place not in places.values():
            places[name] = place
    for name in sorted(set(names) - set(places)):
        taken = set(places.values())
        start = zlib.crc32(name.encode())
        order = [(start + step) % len(COLORS) for step in range(len(COLORS))]
        free = [place for place in order if place not in taken]
        places[name] = free[0] if free else next(n for n in range(len(COLORS), len(taken) + 1) if n not in taken)
    return {name: _style(places[name]) for name in names}


UTILISATION = ("#8a95a0", "#b8862b", "#c05f1e", "#b03a24", "#7d1528", "#3d0626")
"""Colours of a link from idle to full: darker and darker, on white."""
UTILISATION_DARK = ("#6f7b88", "#b07038", "#dd8a34", "#f5b34a", "#fbd87c", "#fff6cf")
"""Colours of a link from idle to full, on a dark page: lighter and lighter."""
DIFFERENCE = ("#084594", "#4a7fc0", "#8a95a0", "#c0702e", "#8c2d04")
"""Colours of a difference in utilisation, from much less to much more, on white."""
DIFFERENCE_DARK = ("#8fd0ff", "#5f9fd6", "#6f7b88", "#d08a48", "#ffbe73")
"""Colours of a difference in utilisation, on a dark page."""
