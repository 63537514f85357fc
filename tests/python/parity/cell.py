"""What a case has found in one network: facts, each beside what it should be, and times, each beside its bound."""

from __future__ import annotations

import json
from dataclasses import dataclass, field


@dataclass
class Cell:
    """A cell of the table.

    Attributes:
        facts: By name, what was found and what should have been.
        times: By name, milliseconds and the most that may be.
        stalled: The longest time for which the machine kept a ready process waiting meanwhile, in milliseconds.
    """

    facts: dict[str, tuple[object, object]] = field(default_factory=dict)
    times: dict[str, tuple[float | None, float]] = field(default_factory=dict)
    stalled: float = 0.0

    def fact(self, name: str, found: object, should: object) -> None:
        """Note a fact."""
        self.facts[name] = (found, should)

    def time(self, name: str, milliseconds: float | None, bound: float) -> None:
        """Note a time; None if it never came to that."""
        self.times[name] = (None if milliseconds is None else round(milliseconds, 3), bound)

    def to_json(self) -> str:
        """As a line."""
        return json.dumps({"facts": self.facts, "times": self.times, "stalled": self.stalled})

    @staticmethod
    def from_json(text: str) -> Cell:
        """From a line."""
        read = json.loads(text)
        return Cell(
            {name: (found, should) for name, (found, should) in read["facts"].items()},
            {name: (value, bound) for name, (value, bound) in read["times"].items()},
            read["stalled"],
        )
