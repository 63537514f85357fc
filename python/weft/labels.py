"""Scenario keys, values and names as short text, for labels, titles and column heads."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufffe\uffff]"
)
"""Control characters but line ends and tabs, separators of lines, marks that reverse text, and what is no character."""


def visible(text: str) -> str:
    r"""A name as it may be shown: what a page or a terminal would obey instead of showing is spelled, as ``\x1b``.

    Names come from scenarios, fabric files and result directories, and those may be somebody else's.
    """
    return UNSEEN.sub(_spelled, text)


def _spelled(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def show(value: Any) -> str:
    """A scenario value as short text."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def short_key(key: str, keys: Iterable[str]) -> str:
    """The shortest end of a dotted key that tells it from the other `keys`: ``load``, ``long.flows``."""
    parts = key.split(".")
    others = [other.split(".") for other in keys if other != key]
    for length in range(1, len(parts)):
        if all(other[-length:] != parts[-length:] for other in others):
            return ".".join(parts[-length:])
    return key


def column(key: str) -> str:
    """A dotted key as the name of a table's column: ``traffic_load``. Altair takes a dot for a field within a field."""
    return key.replace(".", "_")


def plural(number: int, word: str, many: str | None = None) -> str:
    """A number with its noun, e.g. ``3 runs``; `many` where an s does not make it several."""
    return f"{number:,} {word if number == 1 else many or f'{word}s'}"
