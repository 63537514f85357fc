"""Searching for foreign rules: which cookies are queried, and how unanswered queries are handled."""

from __future__ import annotations

import random

from weft.controller import foreign
from weft.controller.foreign import MARK, Foreign


def test_every_cookie_that_is_not_weft_s_is_asked_for_once_and_weft_s_are_not():
    draw = random.Random(5)
    near = [(MARK << 48) ^ (1 << bit) for bit in range(64)]
    for cookie in [0, 2**64 - 1, MARK << 48, *near, *(draw.getrandbits(64) for _ in range(1000))]:
        parts = sum(cookie & mask == value for value, mask in foreign._OTHERS)
        assert parts == (cookie >> 48 != MARK), hex(cookie)


def looks(count, *, every, others, cookies):
    """Scan a switch with these rules several times; returns the queries and the new cookies of each scan."""
    numbers = iter(range(1, 10_000, 20))
    look = Foreign(cookies, lambda count: next(numbers), 0.0)
    questions, new = [], []
    for number in range(1, count + 1):
        assert look.ask(number * foreign.PERIOD_S)
        first = min(look._asked)
        look.counted(first, every(number))
        asked = look.counted(first + 1, every(number) - len(others(number)))
        parts = sorted(look._asked)
        questions.append(len(parts))
        assert bool(asked) == bool(parts)
        found = [look.listed(xid, others(number) if xid == parts[0] else [], more=False) for xid in parts]
        new.append([cookie for cookies in found for cookie in cookies])
    return questions, new


def test_a_rule_that_is_known_already_costs_two_short_questions_a_look_and_all_of_them_every_eighth_time():
    questions, new = looks(20, every=lambda _: 50, others=lambda _: [7, 7, 8], cookies=[7, 7, 8])
    assert questions == [0] * 7 + [16] + [0] * 7 + [16] + [0] * 4
    assert not any(new)


def test_a_foreign_rule_is_reported_once_and_all_are_read_only_when_their_number_changes():
    questions, new = looks(6, every=lambda _: 50, others=lambda number: [7] if number < 4 else [7, 9], cookies=[])
    assert questions == [16, 0, 0, 16, 0, 0]
    assert new == [[7], [], [], [9], [], []]


def test_a_rule_that_takes_the_place_of_another_one_is_found_within_eight_looks():
    _, new = looks(9, every=lambda _: 50, others=lambda number: [7] if number < 2 else [9], cookies=[])
    assert new == [[7]] + [[]] * 7 + [[9]]


def test_rules_beyond_the_limit_are_not_requested_again_at_each_poll_either():
    many = list(range(foreign._MOST + 5))
    questions, new = looks(4, every=lambda _: 20_000, others=lambda _: many, cookies=[])
    assert questions == [16, 0, 0, 0]
    assert len(new[0]) == foreign._MOST


def test_a_look_that_is_never_answered_does_not_end_all_looks():
    numbers = iter(range(1, 1000, 20))
    look = Foreign([], lambda count: next(numbers), 0.0)
    assert look.ask(1.0) == b""
    assert look.ask(foreign.PERIOD_S) != b""
    due = 2 * foreign.PERIOD_S
    assert look.ask(due + foreign._PATIENCE_S - 1) == b""
    assert look.ask(due + foreign._PATIENCE_S) != b""
    # Answers to this scan count, those to the first do not.
    assert look.counted(1, 7) == b"" and look.counted(2, 5) == b""
    assert look.counted(21, 7) == b"" and look.counted(22, 5) != b""
    assert [look.listed(41 + part, [part] if part < 2 else [], more=False) for part in range(16)][-1] == [0, 1]
