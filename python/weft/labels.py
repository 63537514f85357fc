"""Scenario keys, values and names as short text, for labels, titles and column headings."""

import json
import re
from collections.abc import Iterable
from typing import Any

UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufffe\uffff]"
)
"""Control characters except newline and tab, line separators, bidirectional marks, and non-characters."""


def visible(text: str) -> str:
    r"""A name that is safe to show: characters that a page or a terminal would interpret are escaped, e.g. ``\x1b``.

    Names come from scenarios, fabric files and result directories, which may be untrusted.
    """
    return UNSEEN.sub(_spelled, text)


def _spelled(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def show(value: Any) -> str:
    """A scenario value as short text; ``1.0`` is ``1``, as in the engine's labels. None is a key that is not given."""
    if value is None:
        return "not given"
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return json.dumps(value, ensure_ascii=False)


def short_key(key: str, keys: Iterable[str]) -> str:
    """The shortest suffix of a dotted key that is unique among `keys`: ``load``, ``long.flows``."""
    parts = key.split(".")
    others = [other.split(".") for other in keys if other != key]
    for length in range(1, len(parts)):
        if all(other[-length:] != parts[-length:] for other in others):
            return ".".join(parts[-length:])
    return key


def column(key: str) -> str:
    """A dotted key as a column name: ``traffic_load``. SQL and Vega treat a dot as access to a nested field."""
    return key.replace(".", "_")


def plural(number: int, word: str, many: str | None = None) -> str:
    """A number with its noun, e.g. ``3 runs``; `many` is an irregular plural."""
    return f"{number:,} {word if number == 1 else many or f'{word}s'}"
