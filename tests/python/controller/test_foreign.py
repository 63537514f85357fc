"""How rules of others are looked for: which cookies are asked for, and what becomes of questions without an answer."""

from __future__ import annotations

import random

import pytest

pytest.importorskip("os_ken", reason="the Python package os-ken is not installed")

from weft.controller import foreign
from weft.controller.foreign import MARK, Foreign


def test_every_cookie_that_is_not_weft_s_is_asked_for_once_and_weft_s_are_not():
    draw = random.Random(5)
    near = [(MARK << 48) ^ (1 << bit) for bit in range(64)]
    for cookie in [0, 2**64 - 1, MARK << 48, *near, *(draw.getrandbits(64) for _ in range(1000))]:
        parts = sum(cookie & mask == value for value, mask in foreign._OTHERS)
        assert parts == (cookie >> 48 != MARK), hex(cookie)


def test_a_look_that_is_never_answered_does_not_end_all_looks():
    numbers = iter(range(1, 1000, 20))
    look = Foreign([], lambda count: next(numbers), 0.0)
    assert look.ask(1.0) == b""
    assert look.ask(foreign.PERIOD_S) != b""
    due = 2 * foreign.PERIOD_S
    assert look.ask(due + foreign._PATIENCE_S - 1) == b""
    assert look.ask(due + foreign._PATIENCE_S) != b""
    # Its answers count, and those to the first look do not.
    assert look.counted(1, 7) == b"" and look.counted(2, 5) == b""
    assert look.counted(21, 7) == b"" and look.counted(22, 5) != b""
    assert [look.told(41 + part, [part] if part < 2 else [], more=False) for part in range(16)][-1] == [0, 1]
