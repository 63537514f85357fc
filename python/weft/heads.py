"""The head of a run: its ``summary.json`` without the lists whose size grows with the fabric."""

from pathlib import Path
from typing import Any

from .errors import ResultsError
from .one_run import again, decoded, read_bytes

PER_LINK = ("links", "nodes")
"""Keys of ``summary.json`` whose size grows with the fabric; not part of a head."""


def read(path: Path) -> dict[str, Any]:
    """The head in a file, without a look at the items of those lists. Raises `ResultsError` if it cannot be read."""
    data = read_bytes(path)
    for key in PER_LINK:
        data = _without(data, key.encode())
    head = decoded(path, data)
    if not isinstance(head, dict) or not head:
        raise ResultsError(f"{path}: not the summary of a run: {again(path)}")
    return {key: value for key, value in head.items() if key not in PER_LINK}


def _without(data: bytes, key: bytes) -> bytes:
    """The bytes of an object without the items of one of its lists, if it is indented as the engine indents it.

    Decoding the links of a large fabric takes longer than everything else. No line break is inside of a JSON string.
    """
    start = b'\n  "%s": [' % key
    begin = data.find(start + b"\n")
    if begin < 0:
        return data
    # One byte is found much faster than several.
    end = data.find(b"]", begin + len(start))
    while end >= 0 and data[end - 3 : end] != b"\n  ":
        end = data.find(b"]", end + 1)
    return data if end < 0 else data[: begin + len(start)] + data[end - 3 :]
