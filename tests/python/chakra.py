"""Execution traces of Chakra, written for tests: messages of protocol buffers, each after its length."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

ALL_REDUCE, BROADCAST, REDUCE_SCATTER = 0, 5, 7
COMPUTE, SEND, RECEIVE, COLLECTIVE = 4, 5, 6, 7


def _varint(number: int) -> bytes:
    low = [number >> shift & 0x7F for shift in range(0, max(number.bit_length(), 1), 7)]
    return bytes([*(part | 0x80 for part in low[:-1]), low[-1]])


def _number(field: int, number: int) -> bytes:
    return _varint(field << 3) + _varint(number % (1 << 64))


def _bytes(field: int, content: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def node(number: int, kind: int, after: Iterable[int] = (), us: int = 0, **attributes: int | str) -> bytes:
    """A node of this type that waits for others and has these attributes."""
    message = _number(1, number) + _bytes(2, b"node") + _number(3, kind) + _number(7, us)
    message += b"".join(_number(5, other) for other in after)
    for name, value in attributes.items():
        content = _bytes(29, value.encode()) if isinstance(value, str) else _number(9, value)
        message += _bytes(10, _bytes(1, name.encode()) + content)
    return message


def write(directory: Path, ranks: list[list[bytes]], name: str = "step") -> None:
    """Writes the file of each rank."""
    for rank, nodes in enumerate(ranks):
        messages = [_bytes(1, b"0.0.4"), *nodes]
        text = b"".join(_varint(len(message)) + message for message in messages)
        (directory / f"{name}.{rank}.et").write_bytes(text)
