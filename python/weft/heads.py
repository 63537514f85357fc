"""The head of a run: its ``summary.json`` without the lists whose size grows with the fabric."""

from pathlib import Path
from typing import Any

from .run import decoded, read_text

PER_LINK = ("links", "nodes")
"""Keys of ``summary.json`` whose size grows with the fabric; not part of a head."""


def read(path: Path) -> dict[str, Any]:
    """The head in a file. Raises `ResultsError` if it cannot be read."""
    text = read_text(path)
    for key in PER_LINK:
        text = _without(text, key)
    return {key: value for key, value in decoded(path, text).items() if key not in PER_LINK}


def _without(text: str, key: str) -> str:
    """The text of an object without the items of one of its lists, if it is indented as the engine indents it.

    Reading the links of a large fabric takes longer than everything else. No line break is inside of a JSON string.
    """
    begin = text.find(f'\n  "{key}": [\n')
    end = text.find("\n  ]", begin)
    return text if begin < 0 or end < 0 else text[:begin] + f'\n  "{key}": [' + text[end:]
