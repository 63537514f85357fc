"""Messages as fluids: each host sends and receives at rate 1, and messages share its links fairly."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass
class Message:
    """A message.

    Attributes:
        source: Its source.
        target: Its destination.
        size: Its size, as the time that a link needs for it.
        connection: That on which it follows the message before.
        after: The numbers of those that its source must have received before.
    """

    source: int
    target: int
    size: float
    connection: object
    after: list[int] = field(default_factory=list)


def completion(messages: Sequence[Message], delay: float) -> float:
    """The time at which the last of `messages` has arrived, `delay` after its last byte was sent."""
    missing = [len(message.after) for message in messages]
    waiting = defaultdict(list)
    queues: dict[object, list[int]] = defaultdict(list)
    for number, message in enumerate(messages):
        for needed in message.after:
            waiting[needed].append(number)
        queues[message.connection].insert(0, number)
    left: dict[int, float] = {}
    busy: set[object] = set()
    arriving: list[tuple[float, int]] = []
    now = 0.0

    def send(connection: object) -> None:
        queue = queues[connection]
        if connection not in busy and queue and missing[queue[-1]] == 0:
            busy.add(connection)
            number = queue.pop()
            left[number] = messages[number].size

    for connection in list(queues):
        send(connection)
    while left or arriving:
        rates = _shares([messages[number] for number in left])
        ends = [now + rest / rate for rest, rate in zip(left.values(), rates, strict=True)]
        until = min([*ends, *(at for at, _ in arriving[:1])])
        for number, rate in zip(list(left), rates, strict=True):
            left[number] -= rate * (until - now)
            if left[number] < 1e-9:
                del left[number]
                heapq.heappush(arriving, (until + delay, number))
                busy.remove(messages[number].connection)
                send(messages[number].connection)
        now = until
        while arriving and arriving[0][0] <= now + 1e-12:
            for number in waiting[heapq.heappop(arriving)[1]]:
                missing[number] -= 1
                send(messages[number].connection)
    return now


def _shares(messages: Sequence[Message]) -> list[float]:
    """The max-min fair rates."""
    users: dict[tuple[str, int], set[int]] = defaultdict(set)
    for at, message in enumerate(messages):
        users["sends", message.source].add(at)
        users["receives", message.target].add(at)
    rates, spare = [0.0] * len(messages), dict.fromkeys(users, 1.0)
    while users:
        link = min(users, key=lambda link: (spare[link] / len(users[link]), link))
        share = spare[link] / len(users[link])
        for at in users.pop(link):
            rates[at] = share
            for other in (("sends", messages[at].source), ("receives", messages[at].target)):
                if other in users:
                    spare[other] -= share
                    users[other].discard(at)
        users = {link: of for link, of in users.items() if of}
    return rates
