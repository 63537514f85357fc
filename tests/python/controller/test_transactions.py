"""What is being installed, without a network."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from weft.controller.transactions import Failure, Transactions

RELEASE = [(1, 3, b"frame")]


def opened(transactions, number, blocks, now=0.0):
    """A transaction that was sent: `blocks` is {switch: (first, last)}."""
    transaction = transactions.begin(number, RELEASE, now, now)
    for dpid, (first, last) in blocks.items():
        transactions.sent(transaction, dpid, first, last)
    return transaction


def test_a_transaction_is_installed_when_its_last_switch_confirms():
    transactions = Transactions(2.0)
    opened(transactions, 7, {1: (1, 3), 2: (1, 2)})
    assert transactions.confirmed(1, 3) is None
    done = transactions.confirmed(2, 2)
    assert done is not None and done.number == 7 and done.release == RELEASE
    assert transactions.counts["installed"] == 1 and len(transactions) == 0


def test_an_error_fails_the_transaction_that_its_message_belongs_to_and_only_once():
    transactions = Transactions(2.0)
    opened(transactions, 7, {1: (1, 3)})
    opened(transactions, 8, {1: (4, 6), 2: (1, 2)})
    assert transactions.refused(1, 5) == Failure(8, 1)
    assert transactions.refused(1, 4) is None
    assert transactions.refused(2, 1) is None
    assert transactions.refused(1, 99) is None
    assert transactions.confirmed(1, 3).number == 7
    # What the switches still answer for the one that failed is nobody's business.
    assert transactions.confirmed(1, 6) is None
    assert transactions.confirmed(2, 2) is None


def test_a_switch_that_goes_fails_what_waits_for_it():
    transactions = Transactions(2.0)
    opened(transactions, 7, {1: (1, 3), 2: (1, 2)})
    opened(transactions, 8, {2: (3, 4)})
    assert transactions.switch_down(1) == [Failure(7, 1)]
    assert transactions.switch_down(1) == []
    assert transactions.confirmed(2, 4).number == 8


def test_what_takes_too_long_fails_with_a_switch_that_has_not_confirmed():
    transactions = Transactions(2.0)
    opened(transactions, 7, {1: (1, 3), 2: (1, 2)}, now=10.0)
    opened(transactions, 8, {1: (4, 5)}, now=11.0)
    transactions.confirmed(1, 3)
    assert transactions.next_deadline() == 12.0
    assert transactions.overdue(11.9) == []
    assert transactions.overdue(12.0) == [Failure(7, 2)]
    assert transactions.next_deadline() == 13.0
    assert transactions.confirmed(1, 5).number == 8
    assert transactions.next_deadline() == math.inf


def test_a_transaction_without_rules_is_done():
    transactions = Transactions(2.0)
    transaction = transactions.begin(7, RELEASE, 0.0, 0.0)
    assert transactions.without_rules(transaction) is transaction
    assert transactions.overdue(99) == []


@given(st.data())
def test_every_transaction_ends_once_whatever_switches_do(data):
    transactions = Transactions(5.0)
    ended, blocks, next_xid, now = [], {1: [], 2: [], 3: []}, {1: 1, 2: 1, 3: 1}, 0.0
    count = data.draw(st.integers(1, 12))
    for number in range(1, count + 1):
        there = data.draw(st.sets(st.sampled_from([1, 2, 3]), min_size=1))
        transaction = transactions.begin(number, [], now, now)
        for dpid in there:
            first = next_xid[dpid]
            last = first + data.draw(st.integers(1, 4))
            next_xid[dpid] = last + 1
            blocks[dpid].append((first, last))
            transactions.sent(transaction, dpid, first, last)
        for _ in range(data.draw(st.integers(0, 4))):
            dpid = data.draw(st.sampled_from([1, 2, 3]))
            act = data.draw(st.sampled_from(["confirm", "refuse", "down", "wait"]))
            if act == "confirm" and blocks[dpid]:
                done = transactions.confirmed(dpid, blocks[dpid].pop(0)[1])
                ended += [done.number] if done else []
            elif act == "refuse":
                failure = transactions.refused(dpid, data.draw(st.integers(0, 60)))
                ended += [failure.number] if failure else []
            elif act == "down":
                ended += [failure.number for failure in transactions.switch_down(dpid)]
                blocks[dpid].clear()
            else:
                now += 2.0
                ended += [failure.number for failure in transactions.overdue(now)]
    ended += [failure.number for failure in transactions.overdue(now + 5.0)]
    assert sorted(ended) == list(range(1, count + 1))
    assert len(transactions) == 0
