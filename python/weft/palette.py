"""One colour and one marker for each scheme, the same in every figure, page and table.

The colours are those of Okabe and Ito (2008), distinguishable with the common colour vision deficiencies; markers keep
black-and-white prints readable.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Style:
    """How a scheme is drawn: colour (CSS hex), matplotlib marker, Vega-Lite shape."""

    color: str
    marker: str
    shape: str


_KNOWN = {
    "single_path": Style("#4d4d4d", "s", "square"),
    "ecmp": Style("#0072B2", "o", "circle"),
    "spray": Style("#D55E00", "^", "triangle-up"),
    "spanning_tree": Style("#CC79A7", "D", "diamond"),
    "arp_path": Style("#009E73", "v", "triangle-down"),
    "tcp_path": Style("#56B4E9", "P", "cross"),
    "tfe": Style("#E69F00", ">", "triangle-right"),
    "smoc": Style("#117733", "<", "triangle-left"),
    "tag_forward": Style("#DDCC77", "H", "wedge"),
}

_OTHERS = (
    Style("#882255", "X", "cross"),
    Style("#332288", "h", "diamond"),
    Style("#999933", "d", "square"),
    Style("#44AA99", "p", "circle"),
    Style("#AA4499", "*", "triangle-up"),
)


def styles(schemes: Iterable[str]) -> dict[str, Style]:
    """A style for each scheme, all different while there are enough styles; known schemes keep theirs.

    An unknown scheme gets the style that its name hashes to, or the next free one if that is taken.
    """
    names = list(dict.fromkeys(schemes))
    chosen = {name: _KNOWN[name] for name in names if name in _KNOWN}
    pool = list(_OTHERS) + [style for name, style in _KNOWN.items() if name not in chosen]
    for name in sorted(set(names) - set(chosen)):
        start = zlib.crc32(name.encode()) % len(_OTHERS)
        order = pool[start : len(_OTHERS)] + pool[:start] + pool[len(_OTHERS) :]
        free = [style for style in order if style not in chosen.values()]
        chosen[name] = free[0] if free else order[0]
    return {name: chosen[name] for name in names}


UTILISATION = ("#c8d2da", "#f2cb6c", "#ee9c42", "#d9572f", "#a11d28", "#4d0b34")
"""Colours of a link from idle (pale) to full (dark)."""
