"""Scenario keys and values as short text, for labels, titles and column heads."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any


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


def plural(number: int, word: str, many: str | None = None) -> str:
    """A number with its noun, e.g. ``3 runs``; `many` where an s does not make it several."""
    return f"{number:,} {word if number == 1 else many or f'{word}s'}"
